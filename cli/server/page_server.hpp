// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace nodewise::cli {

/// Shows one page to browsers of this computer, until SIGINT, SIGTERM or SIGHUP. Other users of the
/// computer reach the same ports, so the address of the page has 128 random bits. `port`: 0 lets
/// the kernel choose. `announce` gets the address, "http://127.0.0.1:8080/5f.../", and the port as
/// soon as browsers can connect. Throws `error` (system) if the port cannot be used.
void serve_page(const std::string& page, int port,
                const std::function<void(const std::string& address, int port)>& announce);

} // namespace nodewise::cli
