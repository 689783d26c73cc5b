#!/bin/bash
# Gives memory back on two threads at once, in a program whose allocator is not glibc's: the first call of
# malloc_trim sets glibc's up, and a second one at the same time ended the process.
#
#     Tests/Faults/trim-beside-another-allocator.sh [RUNS]
#
# RUNS is 300 by default. Prints how many runs ended badly; the status is 1 if one did.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat > "$folder/main.c" <<'C'
#include "CMarqueeSystem.h"

#include <pthread.h>
#include <stddef.h>

static char memory[1 << 24];
static size_t used;

void *malloc(size_t size) { return memory + __sync_fetch_and_add(&used, (size + 31) & ~(size_t)31); }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *block, size_t size) { return malloc(size); }
void free(void *block) {}

static pthread_barrier_t start;

static void *trim(void *unused) {
    pthread_barrier_wait(&start);
    csystem_trim_memory();
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, trim, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
C
clang -O1 -fno-builtin -ISources/CMarqueeSystem/include "$folder/main.c" Sources/CMarqueeSystem/CMarqueeSystem.c -lpthread -o "$folder/main" ||
    exit 1
bad=0
for _ in $(seq "${1:-300}"); do (exec "$folder/main") 2>/dev/null || bad=$((bad + 1)); done 2>/dev/null
echo "$bad of ${1:-300} runs ended badly"
[ "$bad" = 0 ]
