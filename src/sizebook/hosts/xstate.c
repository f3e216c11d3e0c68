/*
 * ptrace(2) for user-mode Linux on CPUs with more registers than it knows of (Intel AMX).
 *
 * A user-mode kernel sets the vector registers of its processes by PTRACE_SETREGSET with a buffer
 * of fixed size. Linux takes none that is smaller than all registers the CPU can have (EFAULT), so
 * the first process dies at its first instruction. Here such a buffer is completed by registers in
 * their initial state, which is what they have: using them needs a permission (ARCH_REQ_XCOMP_PERM)
 * that a user-mode kernel never asks for.
 *
 * Loaded by LD_PRELOAD. Needs no headers but the compiler's own, and no library when it is linked.
 */
#include <stdarg.h>
#include <stdint.h>

#define SYS_PTRACE 101
#define PEEK_FIRST 1 /* PTRACE_PEEKTEXT, PEEKDATA, PEEKUSER: the word comes by the last argument */
#define PEEK_LAST 3
#define GETREGSET 0x4204
#define SETREGSET 0x4205
#define NT_X86_XSTATE 0x202
#define XSTATE_BV 512 /* which components are not in their initial state */
#define FIRST_OPTIONAL 2
#define COMPONENTS 63
#define ROOM 65536

struct iovec {
    char *base;
    uint64_t size;
};

extern long syscall(long number, ...);
extern int *__errno_location(void);

static char whole[ROOM] __attribute__((aligned(64)));
static uint64_t whole_size;

/* The components that lie within the first bytes of a buffer (CPUID leaf 13). */
static uint64_t components_within(uint64_t size)
{
    uint64_t found = 3;
    for (uint32_t number = FIRST_OPTIONAL; number < COMPONENTS; number++) {
        uint32_t length = 13, offset, ignored = number, rest;
        __asm__("cpuid" : "+a"(length), "=b"(offset), "+c"(ignored), "=d"(rest));
        if (length != 0 && offset + length <= size)
            found |= 1ull << number;
    }
    return found;
}

static long set_registers(long pid, struct iovec *given)
{
    static uint64_t known_size, known;
    if (whole_size == 0) {
        struct iovec all = {whole, ROOM};
        if (syscall(SYS_PTRACE, GETREGSET, pid, NT_X86_XSTATE, &all) < 0)
            return -1;
        whole_size = all.size;
    }
    if (given->size >= whole_size)
        return syscall(SYS_PTRACE, SETREGSET, pid, NT_X86_XSTATE, given);
    if (given->size != known_size) {
        known = components_within(given->size);
        for (uint64_t at = 0; at < ROOM; at++)
            whole[at] = 0;
        known_size = given->size;
    }
    __builtin_memcpy(whole, given->base, given->size);
    *(uint64_t *)(whole + XSTATE_BV) &= known;
    struct iovec all = {whole, whole_size};
    return syscall(SYS_PTRACE, SETREGSET, pid, NT_X86_XSTATE, &all);
}

long ptrace(long request, ...)
{
    va_list rest;
    va_start(rest, request);
    long pid = va_arg(rest, int);
    long address = va_arg(rest, long);
    void *data = va_arg(rest, void *);
    va_end(rest);
    request = (unsigned int)request; /* an enum: the upper half is not set by the caller */
    if (request == SETREGSET && address == NT_X86_XSTATE)
        return set_registers(pid, data);
    if (request < PEEK_FIRST || request > PEEK_LAST)
        return syscall(SYS_PTRACE, request, pid, address, data);
    long word;
    long result = syscall(SYS_PTRACE, request, pid, address, &word);
    if (result < 0)
        return result;
    *__errno_location() = 0;
    return word;
}
