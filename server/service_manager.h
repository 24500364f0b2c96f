// Tells the service manager that started this process how it is doing: READY=1 when it serves,
// STOPPING=1 when it drains (sd_notify(3)).  systemd waits for the first with Type=notify.

#ifndef DRAGOMAN_SERVER_SERVICE_MANAGER_H_
#define DRAGOMAN_SERVER_SERVICE_MANAGER_H_

#include <string_view>

namespace dragoman {

// Sends a state to the socket that NOTIFY_SOCKET names.  Does nothing if there is none, or if it
// takes no message now: the server does not depend on it.
void TellServiceManager(std::string_view state);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_SERVICE_MANAGER_H_
