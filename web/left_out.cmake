# Sources that a browser has no use for.
set(attn_web_left_out
  app/gl/compute_call.cpp
  app/gl/compute_device.cpp
  app/gl/compute_forward.cpp
  app/gl/compute_pace.cpp
  app/autosave/session_lock.cpp
  app/gl/offscreen_context.cpp
  app/gl/system.cpp
  app/platform/process.cpp
  app/platform/stack.cpp
  app/figures/sheet_pdf.cpp)
