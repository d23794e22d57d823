// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/server/page_server.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/core.h>
#include <httplib.h>

#include <nodewise/error.hpp>

namespace nodewise::cli {

namespace {

constexpr const char* loopback = "127.0.0.1";
constexpr const char* plain_text = "text/plain; charset=utf-8";

/// 128 random bits in hexadecimal.
std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw error(error_kind::system, "--serve: a random address", "the kernel has no random numbers",
                "write the page to a file by -o", errno);
  }
  std::string token;
  for (const unsigned char each : bytes) {
    token += fmt::format("{:02x}", each);
  }
  return token;
}

/// Of the library's own options, SO_REUSEPORT would let a second server share the port silently.
void allow_quick_restart(socket_t socket) {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

/// Returns the port. From here on connections wait, and none is lost.
int bind(httplib::Server& server, int port) {
  errno = 0;
  const int bound = port == 0                             ? server.bind_to_any_port(loopback)
                    : server.bind_to_port(loopback, port) ? port
                                                          : -1;
  if (bound <= 0) {
    const std::string hint = errno == EACCES
                                 ? "choose a port from 1024 on"
                                 : "choose another port, or write --serve alone for a free one";
    throw error(
        error_kind::system, port == 0 ? "--serve" : fmt::format("--serve={}", port),
        fmt::format("{} of {} cannot be used", port == 0 ? "no port" : "this port", loopback), hint,
        errno);
  }
  return bound;
}

/// A page elsewhere can make its own host name lead to 127.0.0.1, and a browser would let it read
/// the answer (DNS rebinding). The name that the browser went by gives it away.
bool names_this_server(const httplib::Request& asked, int port) {
  const std::string host = asked.get_header_value("Host");
  constexpr int standard_port = 80; // browsers leave it out
  const std::string ending = port == standard_port ? "" : fmt::format(":{}", port);
  return asked.get_header_value_count("Host") == 1 &&
         (host == loopback + ending || host == "localhost" + ending);
}

void answer(const httplib::Request& asked, httplib::Response& to, int port, const std::string& path,
            const std::string& page) {
  const auto refuse = [&](int status, const std::string& why) {
    to.status = status;
    to.set_content(why + "\n", plain_text);
  };
  if (!names_this_server(asked, port)) {
    refuse(403, fmt::format("Open the address with the host {0}:{1}. Through ssh, use the same "
                            "port on both sides: ssh -L {1}:{0}:{1} HOST",
                            loopback, port));
  } else if (asked.path != path) {
    refuse(404, "There is nothing at this address.");
  } else if (asked.method != "GET" && asked.method != "HEAD") {
    to.set_header("Allow", "GET, HEAD");
    refuse(405, "This page can only be read.");
  } else {
    to.set_content(page, "text/html; charset=utf-8");
  }
}

/// While this exists, signals that end the process wait; `wait` returns when one came.
class blocked_signals {
 public:
  blocked_signals() noexcept {
    ::sigemptyset(&blocked_);
    ::sigaddset(&blocked_, SIGINT);
    ::sigaddset(&blocked_, SIGTERM);
    struct sigaction hang_up{};
    ::sigaction(SIGHUP, nullptr, &hang_up);
    if (hang_up.sa_handler != SIG_IGN) { // by nohup
      ::sigaddset(&blocked_, SIGHUP);
    }
    ::pthread_sigmask(SIG_BLOCK, &blocked_, &before_);
  }
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;
  ~blocked_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  void wait() const noexcept {
    int number = 0;
    ::sigwait(&blocked_, &number);
  }

 private:
  sigset_t blocked_{};
  sigset_t before_{};
};

/// Throws `error` (system) if connections can no longer be accepted.
void serve_until_signal(httplib::Server& server) {
  std::atomic<bool> failed = false;
  std::thread listener;
  {
    const blocked_signals signals; // in the threads of the server, too
    listener = std::thread([&] {
      if (!server.listen_after_bind()) {
        failed = true;
        ::kill(::getpid(), SIGTERM); // ends the wait below
      }
    });
    // `stop` would have no effect before.
    while (!server.is_running() && !failed) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    signals.wait();
  }
  // A second Ctrl-C ends the process, even if a browser is still reading.
  server.stop();
  listener.join();
  if (failed) {
    throw error(error_kind::system, "--serve", "connections are no longer accepted",
                "start it again");
  }
}

} // namespace

void serve_page(const std::string& page, int port,
                const std::function<void(const std::string& address, int port)>& announce) {
  httplib::Server server;
  server.set_socket_options(allow_quick_restart);
  // Browsers open connections in advance. The end must not wait long for idle ones.
  server.set_keep_alive_max_count(1);
  server.set_keep_alive_timeout(1);
  constexpr time_t patience_with_slow_links = 60;
  server.set_write_timeout(patience_with_slow_links);
  server.set_default_headers({{"Cache-Control", "no-store"},
                              {"Referrer-Policy", "no-referrer"},
                              {"X-Content-Type-Options", "nosniff"}});
  const int bound = bind(server, port);
  const std::string path = fmt::format("/{}/", random_token());
  // Before the library looks for files or reads a body.
  server.set_pre_routing_handler([&](const httplib::Request& asked, httplib::Response& to) {
    answer(asked, to, bound, path, page);
    return httplib::Server::HandlerResponse::Handled;
  });
  announce(fmt::format("http://{}:{}{}", loopback, bound, path), bound);
  serve_until_signal(server);
}

} // namespace nodewise::cli
