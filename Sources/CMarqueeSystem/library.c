#include "CSystemLibrary.h"

#include <dlfcn.h>
#include <stdio.h>

void *csystem_open_library(const char *library, const struct csystem_function *functions, size_t count, char *reason, size_t reason_size) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *error = dlerror();
        snprintf(reason, reason_size, "%s", error != NULL ? error : library);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(handle, functions[i].name);
        if (address == NULL) {
            snprintf(reason, reason_size, "%s has no function %s", library, functions[i].name);
            dlclose(handle);
            return NULL;
        }
        *(void **)functions[i].pointer = address;
    }
    return handle;
}
