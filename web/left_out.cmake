# Sources that a browser has no use for.
set(attn_web_left_out
  app/gl/compute_call.cpp
  app/gl/compute_device.cpp
  app/gl/compute_forward.cpp
  app/gl/compute_pace.cpp
  app/figures/sheet_pdf.cpp)
