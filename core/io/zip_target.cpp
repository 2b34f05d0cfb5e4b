#include "core/io/zip_target.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

namespace attn {
namespace {

namespace fs = std::filesystem;

/// A file that a zip is written to, without libzip's own temporary file beside it. The zip deletes it.
class FileSink {
  public:
    explicit FileSink(const fs::path& file) : fd_(::open(file.c_str(), O_RDWR | O_CLOEXEC)) {
        zip_error_init(&error_);
        if (fd_ < 0) fail(ZIP_ER_OPEN);
    }
    ~FileSink() {
        if (fd_ >= 0) ::close(fd_);
    }
    FileSink(const FileSink&) = delete;
    FileSink& operator=(const FileSink&) = delete;

    bool is_open() const { return fd_ >= 0; }
    zip_error_t* error() { return &error_; }

    static zip_int64_t answer(void* self, void* data, zip_uint64_t length,
                              zip_source_cmd_t command) {
        auto& sink = *static_cast<FileSink*>(self);
        switch (command) {
            case ZIP_SOURCE_OPEN:
            case ZIP_SOURCE_BEGIN_WRITE:
            case ZIP_SOURCE_ROLLBACK_WRITE:
                sink.at_ = 0;
                return 0;
            case ZIP_SOURCE_CLOSE:
            case ZIP_SOURCE_COMMIT_WRITE:
                return 0;
            case ZIP_SOURCE_READ:
                return sink.read(data, length);
            case ZIP_SOURCE_WRITE:
                return sink.write(static_cast<const char*>(data), length);
            case ZIP_SOURCE_SEEK:
            case ZIP_SOURCE_SEEK_WRITE:
                return sink.seek(data, length);
            case ZIP_SOURCE_TELL:
            case ZIP_SOURCE_TELL_WRITE:
                return sink.at_;
            case ZIP_SOURCE_STAT:
                return sink.stat(*static_cast<zip_stat_t*>(data));
            case ZIP_SOURCE_ERROR:
                return zip_error_to_data(&sink.error_, data, length);
            case ZIP_SOURCE_FREE:
                delete &sink;
                return 0;
            case ZIP_SOURCE_SUPPORTS:
                return zip_source_make_command_bitmap(
                    ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                    ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL,
                    ZIP_SOURCE_SUPPORTS, ZIP_SOURCE_BEGIN_WRITE, ZIP_SOURCE_COMMIT_WRITE,
                    ZIP_SOURCE_ROLLBACK_WRITE, ZIP_SOURCE_SEEK_WRITE, ZIP_SOURCE_TELL_WRITE,
                    ZIP_SOURCE_WRITE, ZIP_SOURCE_REMOVE, -1);
            case ZIP_SOURCE_REMOVE:  // its maker removes it
                return ::ftruncate(sink.fd_, 0) == 0 ? 0 : sink.fail(ZIP_ER_REMOVE);
            default:
                zip_error_set(&sink.error_, ZIP_ER_OPNOTSUPP, 0);
                return -1;
        }
    }

  private:
    zip_int64_t fail(int zip_code) {
        zip_error_set(&error_, zip_code, errno);
        return -1;
    }
    zip_int64_t read(void* to, zip_uint64_t length) {
        const ssize_t got = ::pread(fd_, to, length, at_);
        if (got < 0) return fail(ZIP_ER_READ);
        at_ += got;
        return got;
    }
    zip_int64_t write(const char* from, zip_uint64_t length) {
        for (zip_uint64_t done = 0; done < length;) {
            const ssize_t put = ::pwrite(fd_, from + done, length - done, at_);
            if (put < 0 && errno == EINTR) continue;
            if (put < 0) return fail(ZIP_ER_WRITE);
            done += static_cast<zip_uint64_t>(put);
            at_ += put;
        }
        return static_cast<zip_int64_t>(length);
    }
    zip_int64_t size() const {
        struct stat status {};
        return ::fstat(fd_, &status) == 0 ? status.st_size : -1;
    }
    zip_int64_t seek(void* data, zip_uint64_t length) {
        const zip_int64_t whole = size();
        if (whole < 0) return fail(ZIP_ER_SEEK);
        const zip_int64_t to =
            zip_source_seek_compute_offset(static_cast<zip_uint64_t>(at_),
                                           static_cast<zip_uint64_t>(whole), data, length, &error_);
        if (to < 0) return -1;
        at_ = to;
        return 0;
    }
    zip_int64_t stat(zip_stat_t& stat) {
        const zip_int64_t whole = size();
        if (whole < 0) return fail(ZIP_ER_READ);
        zip_stat_init(&stat);
        stat.size = static_cast<zip_uint64_t>(whole);
        stat.valid = ZIP_STAT_SIZE;
        return sizeof(stat);
    }

    int fd_;
    zip_int64_t at_ = 0;
    zip_error_t error_;
};

}  // namespace

zip_source_t* zip_target(const fs::path& file, zip_error_t* error) {
    auto sink = std::make_unique<FileSink>(file);
    if (!sink->is_open()) {
        zip_error_set(error, zip_error_code_zip(sink->error()),
                      zip_error_code_system(sink->error()));
        return nullptr;
    }
    zip_source_t* const target = zip_source_function_create(&FileSink::answer, sink.get(), error);
    if (target != nullptr) static_cast<void>(sink.release());
    return target;
}

}  // namespace attn
