// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "port.h"

static const char interface[] = "eth0";
static const char bug[] = "run it again with --verbose, and report the console's text as a bug";

static struct ifreq request_for_interface(void) {
  struct ifreq request;
  memset(&request, 0, sizeof request);
  memcpy(request.ifr_name, interface, sizeof interface);
  return request;
}

static void set_hardware_address(int fd, unsigned char number) {
  // nodewise_lab/network.py has the same addresses: it forwards by the last byte.
  const unsigned char address[] = {0x52, 0x54, 0, 0x6e, 0x77, number};
  struct ifreq request = request_for_interface();
  request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
  memcpy(request.ifr_hwaddr.sa_data, address, sizeof address);
  if (ioctl(fd, SIOCSIFHWADDR, &request) < 0)
    fail(errno, bug, "cannot set the hardware address of %s", interface);
}

static void set_internet_address(int fd, unsigned long what, uint32_t value) {
  const struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(value)};
  struct ifreq request = request_for_interface();
  memcpy(&request.ifr_addr, &address, sizeof address);
  if (ioctl(fd, what, &request) < 0)
    fail(errno, bug, "cannot set the address of %s", interface);
}

void network_join(unsigned number) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    fail(errno, bug, "cannot use the network");
  set_hardware_address(fd, (unsigned char)number);
  set_internet_address(fd, SIOCSIFADDR, 0x0a000000U + number); // 10.0.0.NUMBER
  set_internet_address(fd, SIOCSIFNETMASK, 0xffffff00U);
  struct ifreq request = request_for_interface();
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
    fail(errno, bug, "cannot enable %s", interface);
  close(fd);
}
