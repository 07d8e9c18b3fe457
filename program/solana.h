// What the Solana runtime gives a program: the input region, the system calls, the heap.
#pragma once

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;
typedef long i64;

#define ADDRESS_BYTES 32

// What is called often is kept out of line: a deployed program pays rent by the byte.
#define OUTLINED __attribute__((noinline))

// The runtime's own layout of an account in C (SolAccountInfo), so that it can be passed on to another program.
typedef struct {
  const u8 *address;
  u64 *lamports;
  u64 data_length;
  u8 *data;
  const u8 *owner;
  u64 rent_epoch;
  u8 is_signer;
  u8 is_writable;
  u8 is_executable;
} Account;

typedef struct {
  const u8 *address;
  u8 is_writable;
  u8 is_signer;
} Meta;

typedef struct {
  const u8 *program;
  const Meta *metas;
  u64 meta_count;
  const u8 *data;
  u64 data_length;
} Instruction;

typedef struct {
  const void *bytes;
  u64 length;
} Seed;

typedef struct {
  const Seed *seeds;
  u64 count;
} Signer;

typedef struct {
  u64 slot;
  i64 epoch_started_at;
  u64 epoch;
  u64 leader_schedule_epoch;
  i64 unix_time;
} Clock;

typedef struct {
  u64 lamports_per_byte_year;
  u64 exemption_threshold; // the bits of a double
  u8 burn_percent;
} Rent;

extern void sol_log_(const char *text, u64 length);
extern void sol_memcpy_(void *to, const void *from, u64 length);
extern void sol_memset_(void *to, u8 value, u64 length);
extern void sol_memcmp_(const void *left, const void *right, u64 length, int *result);
extern u64 sol_get_clock_sysvar(Clock *clock);
extern u64 sol_get_rent_sysvar(Rent *rent);
extern u64 sol_try_find_program_address(const Seed *seeds, u64 count, const u8 *program, u8 *address, u8 *bump);
extern u64 sol_sha256(const Seed *parts, u64 count, u8 *hash);
extern u64 sol_invoke_signed_c(const Instruction *instruction, const Account *accounts, int account_count,
                               const Signer *signers, int signer_count);

#define LOG(text) sol_log_(text, sizeof(text) - 1)

// More than any instruction takes: one account too many is still told apart from a list that cannot be read.
#define MAX_ACCOUNTS 8
#define MAX_CPI_ACCOUNTS 3

// Upstream LLVM allows a frame 512 bytes of stack, so that what is larger lies on the heap, which the runtime
// hands over zeroed and 32 KiB long. Nothing here outlives one invocation.
typedef struct {
  Account accounts[MAX_ACCOUNTS];
  Account cpi_accounts[MAX_CPI_ACCOUNTS];
  Meta cpi_metas[MAX_CPI_ACCOUNTS];
  u8 cpi_data[64];
  u8 found_address[ADDRESS_BYTES];
  u8 hash[ADDRESS_BYTES];
  u8 commitment[ADDRESS_BYTES];
  Clock clock;
  Rent rent;
} Scratch;

#define SCRATCH ((Scratch *)0x300000000UL)

// One invocation, as read from the input region.
typedef struct {
  Account *accounts;
  u64 account_count;
  const u8 *data;
  u64 data_length;
  const u8 *program;
} Call;

// Addresses and integers inside instruction data lie at odd offsets: they are compared and copied by the runtime,
// never through a wider pointer.
OUTLINED static int same(const u8 *left, const u8 *right) {
  int difference;
  sol_memcmp_(left, right, ADDRESS_BYTES, &difference);
  return difference == 0;
}

OUTLINED static u64 read_u64(const u8 *from) {
  u64 value;
  sol_memcpy_(&value, from, sizeof value);
  return value;
}

OUTLINED static i64 now(void) {
  sol_get_clock_sysvar(&SCRATCH->clock);
  return SCRATCH->clock.unix_time;
}

// How far the runtime lets an account grow: that much room follows its data in the input region.
#define GROWTH_BYTES 10240

// Reads the input region (loader version 3, aligned). An account that is listed twice is written once and named by
// its first index after that; both entries then share the same lamports and data.
static u64 read_input(u8 *input, Call *call) {
  u64 count = *(u64 *)input;
  u8 *at = input + 8;
  if (count > MAX_ACCOUNTS) return 0;
  for (u64 i = 0; i < count; i++) {
    Account *account = &SCRATCH->accounts[i];
    u8 first = at[0];
    if (first != 0xff) {
      if (first >= i) return 0;
      *account = SCRATCH->accounts[first];
      at += 8;
      continue;
    }
    account->is_signer = at[1];
    account->is_writable = at[2];
    account->is_executable = at[3];
    account->address = at + 8;
    account->owner = at + 40;
    account->lamports = (u64 *)(at + 72);
    account->data_length = *(u64 *)(at + 80);
    account->data = at + 88;
    at += 88 + account->data_length + GROWTH_BYTES;
    at = (u8 *)(((u64)at + 7) & ~7UL);
    account->rent_epoch = *(u64 *)at;
    at += 8;
  }
  call->accounts = SCRATCH->accounts;
  call->account_count = count;
  call->data_length = *(u64 *)at;
  call->data = at + 8;
  call->program = at + 8 + call->data_length;
  return 1;
}

static inline void set_data_length(Account *account, u64 length) {
  *(u64 *)(account->data - 8) = length;
  account->data_length = length;
}

// Calls another program with the accounts laid out in SCRATCH (see put_account).
OUTLINED static u64 invoke(const u8 *program, u64 account_count, u64 data_length, const Signer *signer) {
  Instruction instruction = {program, SCRATCH->cpi_metas, account_count, SCRATCH->cpi_data, data_length};
  return sol_invoke_signed_c(&instruction, SCRATCH->cpi_accounts, (int)account_count, signer, signer ? 1 : 0);
}

OUTLINED static void put_account(u64 index, const Account *account, u8 is_writable, u8 is_signer) {
  SCRATCH->cpi_accounts[index] = *account;
  SCRATCH->cpi_metas[index] = (Meta){account->address, is_writable, is_signer};
}
