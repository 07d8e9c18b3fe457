// The two programs that the escrow calls: the system program and the SPL Token program.
#pragma once
#include "errors.h"
#include "solana.h"

static const u8 SYSTEM_PROGRAM[ADDRESS_BYTES] = {0};
// TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA
static const u8 TOKEN_PROGRAM[ADDRESS_BYTES] = {
    6,   221, 246, 225, 215, 101, 161, 147, 217, 203, 225, 70,  206, 235, 121, 172,
    28,  180, 133, 237, 95,  91,  55,  145, 58,  140, 245, 133, 126, 255, 0,   169};
// ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL
static const u8 ASSOCIATED_TOKEN_PROGRAM[ADDRESS_BYTES] = {
    140, 151, 37,  143, 78,  36,  137, 241, 187, 61,  16,  41,  20,  142, 13,  131,
    11,  90,  19,  153, 218, 255, 16,  132, 4,   142, 123, 216, 219, 233, 248, 89};

// A token account: mint 0, owner 32, amount 64, delegate 72 (u32 tag), state 108, close authority 129 (u32 tag).
#define TOKEN_ACCOUNT_BYTES 165
// A mint: supply 36, decimals 44, initialised 45.
#define MINT_BYTES 82

static inline const u8 *token_mint(const Account *account) { return account->data; }
static inline const u8 *token_owner(const Account *account) { return account->data + 32; }
static inline u64 token_amount(const Account *account) { return *(u64 *)(account->data + 64); }
static inline u8 token_state(const Account *account) { return account->data[108]; }

static inline int is_token_account(const Account *account) {
  return same(account->owner, TOKEN_PROGRAM) && account->data_length == TOKEN_ACCOUNT_BYTES &&
         token_state(account) != 0;
}

static inline int is_mint(const Account *account) {
  return same(account->owner, TOKEN_PROGRAM) && account->data_length == MINT_BYTES && account->data[45] == 1;
}

// Nobody but its owner can move or close it, and nobody has frozen it.
static inline int is_plain_token_account(const Account *account) {
  return token_state(account) == 1 && account->data[72] == 0 && account->data[129] == 0;
}

OUTLINED static u64 token_transfer(const Account *from, const Account *to, const Account *owner, u64 amount,
                          const Signer *signer) {
  put_account(0, from, 1, 0);
  put_account(1, to, 1, 0);
  put_account(2, owner, 0, 1);
  SCRATCH->cpi_data[0] = 3;
  sol_memcpy_(SCRATCH->cpi_data + 1, &amount, 8);
  return invoke(TOKEN_PROGRAM, 3, 9, signer);
}

static u64 token_close(const Account *account, const Account *rent_to, const Account *owner,
                       const Signer *signer) {
  put_account(0, account, 1, 0);
  put_account(1, rent_to, 1, 0);
  put_account(2, owner, 0, 1);
  SCRATCH->cpi_data[0] = 9;
  return invoke(TOKEN_PROGRAM, 3, 1, signer);
}

OUTLINED static void put_system_tag(u8 tag) {
  sol_memset_(SCRATCH->cpi_data, 0, 4);
  SCRATCH->cpi_data[0] = tag;
}

static u64 system_transfer(const Account *from, const Account *to, u64 lamports) {
  put_account(0, from, 1, 1);
  put_account(1, to, 1, 0);
  put_system_tag(2);
  sol_memcpy_(SCRATCH->cpi_data + 4, &lamports, 8);
  return invoke(SYSTEM_PROGRAM, 2, 12, 0);
}

static u64 system_allocate(Account *account, u64 space, const Signer *signer) {
  put_account(0, account, 1, 1);
  put_system_tag(8);
  sol_memcpy_(SCRATCH->cpi_data + 4, &space, 8);
  TRY(invoke(SYSTEM_PROGRAM, 1, 12, signer));
  account->data_length = space;
  return OK;
}

static u64 system_assign(const Account *account, const u8 *program, const Signer *signer) {
  put_account(0, account, 1, 1);
  put_system_tag(1);
  sol_memcpy_(SCRATCH->cpi_data + 4, program, ADDRESS_BYTES);
  return invoke(SYSTEM_PROGRAM, 1, 36, signer);
}

// What an account of `bytes` must hold to be kept for good; 0 when the cluster's rule is not one that we know.
// The threshold is a double, and the machine has none: it has been 2.0 (two years) since genesis, and becomes 1.0
// where the yearly rate is replaced by a rate per byte (SIMD-0194).
static u64 rent_exempt_lamports(u64 bytes) {
  Rent *rent = &SCRATCH->rent;
  sol_get_rent_sysvar(rent);
  u64 yearly = (128 + bytes) * rent->lamports_per_byte_year;
  if (rent->exemption_threshold == 0x4000000000000000UL) return 2 * yearly;
  if (rent->exemption_threshold == 0x3ff0000000000000UL) return yearly;
  return 0;
}
