#define _GNU_SOURCE
#include "CSystemLock.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

int csystem_lock_bytes(int file, off_t start, off_t count) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = count};
    return fcntl(file, F_OFD_SETLK, &lock);
}

void csystem_unlock_bytes(int file, off_t start, off_t count) {
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = count};
    fcntl(file, F_OFD_SETLK, &lock);
}

int csystem_is_locked(int file) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(file, F_OFD_GETLK, &lock) < 0) return -1;
    return lock.l_type != F_UNLCK;
}

int csystem_is_remote(int file) {
    struct statfs system;
    if (fstatfs(file, &system) < 0) return -1;
    switch ((unsigned)system.f_type) {
    case NFS_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
    case CEPH_SUPER_MAGIC:
    case AFS_SUPER_MAGIC:
    case AFS_FS_MAGIC: return 1;
    default: return 0;
    }
}
