/* Makes system calls of a program fail, and cuts its power. It is loaded by LD_PRELOAD.
 *
 * FAULTS names a file with one `struct plan`, which a test writes while the program runs.
 * FAULTS_BELOW names a directory: only calls on what is below it count.
 *
 * A power cut ends the program and takes back what it has not synced since the plan was written:
 * the content of files, and what was done to the names in directories. What a file was synced with
 * stays, and so does a name if its directory was synced. With seed 0 all the rest is lost, with
 * another one a part of it: each page, each length and each name by a coin of its own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { WRITE = 1, SYNC = 2, RENAME = 4, OPEN = 8, TRUNCATE = 16, UNLINK = 32, MKDIR = 64 };
enum mode { ONCE, PARTLY, LASTING, CUT };

struct plan {
  int64_t generation; /* another one with each plan */
  int64_t kinds;      /* the calls that count, as bits */
  int64_t at;         /* the first call that fails, from 1; 0: none */
  int64_t error, mode, seed;
  /* So many counted and failed until now, and so many there were of each kind, from the lowest bit. */
  int64_t calls, failed, of_kind[7];
};

/* The one of the C library: the one of this name is replaced below. */
#define raw(...) (find_raw()(__VA_ARGS__))

static long (*find_raw(void))(long, ...) {
  static long (*found)(long, ...);
  if (!found) found = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  return found;
}

static volatile struct plan *plan;
static int64_t generation;
static char below[PATH_MAX], aside[PATH_MAX];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* MARK: what is not synced */

enum { PAGE = 4096 };

/* The descriptor is never closed: that would drop the locks that the program has on the file. */
struct file {
  struct file *next;
  dev_t device;
  ino_t number;
  int descriptor;
  uint64_t index;
  int is_changed;
  off_t synced_size;
};

struct content {
  struct content *next;
  struct file *file;
  off_t offset;
  size_t length;
  char old[];
};

/* An empty path is none. */
struct name {
  struct name *next;
  enum { MADE, MADE_DIRECTORY, MOVED, REMOVED, REMOVED_DIRECTORY } what;
  int from_is_synced, to_is_synced;
  char from[PATH_MAX], to[PATH_MAX], replaced[PATH_MAX];
};

static struct file *files;
static struct content *contents;
static struct name *names;
static uint64_t count;

static int coin(uint64_t a, uint64_t b) {
  uint64_t x = (uint64_t)plan->seed * 0x9e3779b97f4a7c15 + a * 0xbf58476d1ce4e5b9 + b;
  x = (x ^ (x >> 31)) * 0x94d049bb133111eb;
  return plan->seed == 0 || (x ^ (x >> 29)) & 1;
}

static struct file *file_of(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) || !S_ISREG(status.st_mode)) return NULL;
  struct file *file = files;
  while (file && (file->number != status.st_ino || file->device != status.st_dev)) file = file->next;
  if (file) return file;
  file = calloc(1, sizeof *file);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  *file = (struct file){files, status.st_dev, status.st_ino,
    (int)raw(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC), ++count, 0, 0};
  return files = file;
}

/* Before a part of a file changes. */
static void keep_content(int descriptor, off_t offset, size_t length) {
  struct file *file = file_of(descriptor);
  struct stat status;
  if (!file || fstat(descriptor, &status)) return;
  if (!file->is_changed) file->synced_size = status.st_size;
  file->is_changed = 1;
  struct content *content = calloc(1, sizeof *content + length);
  content->next = contents;
  content->file = file;
  content->offset = offset;
  content->length = length;
  if (raw(SYS_pread64, file->descriptor, content->old, length, offset) < 0) abort();
  contents = content;
}

static void forget_contents(struct file *file) {
  if (file) file->is_changed = 0;
  for (struct content **at = &contents; *at;) {
    struct content *content = *at;
    if (file && content->file != file) { at = &content->next; continue; }
    *at = content->next;
    free(content);
  }
}

static int is_in(const char *path, const char *directory) {
  const char *slash = strrchr(path, '/');
  return slash && (size_t)(slash - path) == strlen(directory)
    && !strncmp(path, directory, slash - path);
}

/* Forgets the names that are durable once this directory is; without one, all. */
static void forget_names(const char *directory) {
  for (struct name **at = &names; *at;) {
    struct name *name = *at;
    if (directory && is_in(name->from, directory)) name->from_is_synced = 1;
    if (directory && is_in(name->to, directory)) name->to_is_synced = 1;
    int is_durable = (!*name->from || name->from_is_synced) && (!*name->to || name->to_is_synced);
    if (directory && !is_durable) { at = &name->next; continue; }
    *at = name->next;
    if (*name->replaced) raw(SYS_unlinkat, AT_FDCWD, name->replaced, 0);
    free(name);
  }
}

/* Before a name changes. What is removed or replaced is kept aside. The change is part of the list
 * once it was done. */
static struct name *new_name(int what, const char *from, const char *to) {
  struct name *name = calloc(1, sizeof *name);
  name->what = what;
  strcpy(name->from, from);
  strcpy(name->to, to);
  if (what == MOVED || what == REMOVED) {
    snprintf(name->replaced, sizeof name->replaced, "%.4000s.%lu", aside, (unsigned long)++count);
    const char *path = what == MOVED ? to : from;
    if (raw(SYS_linkat, AT_FDCWD, path, AT_FDCWD, name->replaced, 0)) *name->replaced = 0;
  }
  return name;
}

static long finish_name(struct name *name, long result) {
  if (!name) return result;
  if (result < 0) {
    int error = errno;
    if (*name->replaced) raw(SYS_unlinkat, AT_FDCWD, name->replaced, 0);
    free(name);
    errno = error;
  } else {
    name->next = names;
    names = name;
  }
  return result;
}

/* MARK: the cut */

static void take_back_contents(void) {
  for (struct file *file = files; file; file = file->next) {
    if (!file->is_changed) continue;
    struct stat status;
    fstat(file->descriptor, &status);
    for (struct content *content = contents; content; content = content->next) {
      if (content->file != file) continue;
      for (size_t done = 0; done < content->length;) {
        off_t start = content->offset + done;
        size_t length = PAGE - start % PAGE;
        if (length > content->length - done) length = content->length - done;
        if (coin(file->index, start / PAGE))
          raw(SYS_pwrite64, file->descriptor, content->old + done, length, start);
        done += length;
      }
    }
    off_t size = coin(file->index, ~0ul) ? file->synced_size : status.st_size;
    raw(SYS_ftruncate, file->descriptor, size);
  }
}

/* A change that a later one depends on, which is durable, cannot be taken back, and stays. */
static void take_back_names(void) {
  uint64_t number = 0;
  for (struct name *name = names; name; name = name->next) {
    if (!coin(++number, 0)) continue;
    switch (name->what) {
    case MADE: raw(SYS_unlinkat, AT_FDCWD, name->from, 0); break;
    case MADE_DIRECTORY: raw(SYS_unlinkat, AT_FDCWD, name->from, AT_REMOVEDIR); break;
    case REMOVED_DIRECTORY: raw(SYS_mkdirat, AT_FDCWD, name->from, 0700); break;
    case REMOVED: raw(SYS_renameat2, AT_FDCWD, name->replaced, AT_FDCWD, name->from, 1); break;
    case MOVED:
      if (raw(SYS_renameat2, AT_FDCWD, name->to, AT_FDCWD, name->from, 1)) break;
      if (*name->replaced) raw(SYS_renameat2, AT_FDCWD, name->replaced, AT_FDCWD, name->to, 1);
    }
  }
}

static void cut_power(void) {
  take_back_contents();
  take_back_names();
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* MARK: which call fails */

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAULTS"), *directory = getenv("FAULTS_BELOW");
  if (!path || !directory) return;
  int descriptor = (int)raw(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
  void *page = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (page == MAP_FAILED) abort();
  snprintf(below, sizeof below, "%s/", directory);
  snprintf(aside, sizeof aside, "%s.aside", path);
  plan = page;
}

/* The path of an entry of a directory, or of a descriptor where the entry is NULL. False if it does
 * not count. */
static int find(char path[PATH_MAX], int directory, const char *entry) {
  char link[64];
  ssize_t length = 0;
  if (!plan) return 0;
  if (!entry || *entry != '/') {
    if (directory == AT_FDCWD) strcpy(link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    length = readlink(link, path, PATH_MAX / 2);
    if (length < 0) return 0;
  }
  path[length] = 0;
  if (entry) snprintf(path + length, PATH_MAX - length, "%s%s", length ? "/" : "", entry);
  return !strncmp(path, below, strlen(below));
}

/* Locks, and returns the error that the call fails with, or 0. */
static int64_t enter(int kind) {
  pthread_mutex_lock(&mutex);
  if (generation != plan->generation) {
    generation = plan->generation;
    forget_contents(NULL);
    forget_names(NULL);
  }
  plan->of_kind[__builtin_ctz(kind)]++;
  if (!(plan->kinds & kind)) return 0;
  int64_t call = ++plan->calls, at = plan->at;
  if (!at || call < at) return 0;
  if (plan->mode == CUT) plan->failed++, cut_power();
  if (plan->mode == ONCE && call > at) return 0;
  if (plan->mode == PARTLY && (call > at + 1 || (call == at && kind != WRITE))) return 0;
  plan->failed++;
  return plan->error;
}

/* Unlocks. */
static long leave(long result) {
  int error = errno;
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}

static long fail(int64_t error) {
  errno = (int)error;
  return leave(-1);
}

/* MARK: the calls */

static long write_at(int descriptor, const void *bytes, size_t length, off_t offset, int has_offset) {
  char path[PATH_MAX];
  int counts = descriptor > 2 && find(path, descriptor, NULL);
  if (counts) {
    int64_t error = enter(WRITE);
    int is_part = error && plan->mode == PARTLY && plan->calls == plan->at && length > 1;
    if (error && !is_part) return fail(error);
    if (is_part) length /= 2;
    keep_content(descriptor, has_offset ? offset : lseek(descriptor, 0, SEEK_CUR), length);
  }
  long result = has_offset ? raw(SYS_pwrite64, descriptor, bytes, length, offset)
                           : raw(SYS_write, descriptor, bytes, length);
  return counts ? leave(result) : result;
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
  return write_at(descriptor, bytes, length, 0, 0);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off_t offset) {
  return write_at(descriptor, bytes, length, offset, 1);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
  return write_at(descriptor, bytes, length, offset, 1);
}

static long sync_by(long call, int descriptor) {
  char path[PATH_MAX];
  if (!find(path, descriptor, NULL)) return raw(call, descriptor);
  int64_t error = enter(SYNC);
  if (error) return fail(error);
  struct file *file = file_of(descriptor);
  if (file) forget_contents(file);
  else forget_names(path);
  return leave(raw(call, descriptor));
}

int fsync(int descriptor) { return (int)sync_by(SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return (int)sync_by(SYS_fdatasync, descriptor); }

int ftruncate64(int descriptor, off_t size) {
  char path[PATH_MAX];
  struct stat status;
  if (!find(path, descriptor, NULL)) return (int)raw(SYS_ftruncate, descriptor, size);
  int64_t error = enter(TRUNCATE);
  if (error) return (int)fail(error);
  if (!fstat(descriptor, &status))
    keep_content(descriptor, size, status.st_size > size ? status.st_size - size : 0);
  return (int)leave(raw(SYS_ftruncate, descriptor, size));
}

int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }

/* openat2 has its flags and the mode in a struct, whose size is not 0. */
static int open_entry(int directory, const char *entry, struct open_how *how, size_t size) {
  char path[PATH_MAX];
  struct stat status;
  int counts = find(path, directory, entry), makes = 0;
  if (counts) {
    int64_t error = enter(OPEN);
    if (error) return (int)fail(error);
    makes = how->flags & O_CREAT && fstatat(directory, entry, &status, AT_SYMLINK_NOFOLLOW);
  }
  struct name *name = makes ? new_name(MADE, path, "") : NULL;
  int flags = (int)how->flags & ~(counts ? O_TRUNC : 0);
  int result = (int)finish_name(name, size ? raw(SYS_openat2, directory, entry, how, size)
                                           : raw(SYS_openat, directory, entry, flags, how->mode));
  if (counts && result >= 0 && how->flags & O_TRUNC && !fstat(result, &status) && status.st_size) {
    keep_content(result, 0, status.st_size);
    raw(SYS_ftruncate, result, 0);
  }
  return counts ? (int)leave(result) : result;
}

#define OPEN_ENTRY(directory, path, flags) \
  struct open_how how = {(unsigned)flags, 0, 0}; \
  if (flags & (O_CREAT | __O_TMPFILE)) { \
    va_list list; \
    va_start(list, flags); \
    how.mode = va_arg(list, mode_t); \
    va_end(list); \
  } \
  return open_entry(directory, path, &how, 0)

int open(const char *path, int flags, ...) { OPEN_ENTRY(AT_FDCWD, path, flags); }
int open64(const char *path, int flags, ...) { OPEN_ENTRY(AT_FDCWD, path, flags); }
int openat(int directory, const char *path, int flags, ...) { OPEN_ENTRY(directory, path, flags); }

static int move(int from, const char *old, int to, const char *new, unsigned flags) {
  char source[PATH_MAX], destination[PATH_MAX];
  if (!find(source, from, old) || !find(destination, to, new))
    return (int)raw(SYS_renameat2, from, old, to, new, flags);
  int64_t error = enter(RENAME);
  if (error) return (int)fail(error);
  struct name *name = new_name(MOVED, source, destination);
  return (int)leave(finish_name(name, raw(SYS_renameat2, from, old, to, new, flags)));
}

int rename(const char *old, const char *new) { return move(AT_FDCWD, old, AT_FDCWD, new, 0); }

int renameat(int from, const char *old, int to, const char *new) {
  return move(from, old, to, new, 0);
}

int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
  return move(from, old, to, new, flags);
}

int linkat(int from, const char *old, int to, const char *new, int flags) {
  char path[PATH_MAX];
  if (!find(path, to, new)) return (int)raw(SYS_linkat, from, old, to, new, flags);
  int64_t error = enter(RENAME);
  if (error) return (int)fail(error);
  return (int)leave(
    finish_name(new_name(MADE, path, ""), raw(SYS_linkat, from, old, to, new, flags)));
}

int unlinkat(int directory, const char *entry, int flags) {
  char path[PATH_MAX];
  if (!find(path, directory, entry)) return (int)raw(SYS_unlinkat, directory, entry, flags);
  int64_t error = enter(UNLINK);
  if (error) return (int)fail(error);
  struct name *name = new_name(flags & AT_REMOVEDIR ? REMOVED_DIRECTORY : REMOVED, path, "");
  return (int)leave(finish_name(name, raw(SYS_unlinkat, directory, entry, flags)));
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdirat(int directory, const char *entry, mode_t mode) {
  char path[PATH_MAX];
  if (!find(path, directory, entry)) return (int)raw(SYS_mkdirat, directory, entry, mode);
  int64_t error = enter(MKDIR);
  if (error) return (int)fail(error);
  struct name *name = new_name(MADE_DIRECTORY, path, "");
  return (int)leave(finish_name(name, raw(SYS_mkdirat, directory, entry, mode)));
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

/* For calls that the C library has no function for. */
long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long values[6];
  for (int i = 0; i < 6; i++) values[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_renameat2)
    return move((int)values[0], (char *)values[1], (int)values[2], (char *)values[3], values[4]);
  if (number == SYS_openat2)
    return open_entry((int)values[0], (char *)values[1], (struct open_how *)values[2], values[3]);
  return raw(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}
