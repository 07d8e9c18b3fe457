// How an intent id names its refund owner, so that it can be proven when no account on chain does any more.
//
// An id comes as 30 bytes: `int_`, ten random bytes, and 16 characters of Crockford's base 32 in lower case, which are the
// first 80 bits of sha256(tag, the 14 bytes before them, refund owner): whoever wants another owner to fit a given id has to
// try 2^80.
// src/escrow/commitment.ts makes such ids.
#pragma once
#include "solana.h"

#define INTENT_ID_BYTES 30
// `int_` and ten random bytes.
#define NONCE_BYTES 14

static const u8 COMMITMENT_TAG[] = "farelock refund owner";
static const u8 CROCKFORD[] = "0123456789abcdefghjkmnpqrstvwxyz";

static void sha256_of(const u8 *bytes, u64 length, u8 *hash) {
  Seed whole = {bytes, length};
  sol_sha256(&whole, 1, hash);
}

static int commits_to(const u8 *intent_id, const u8 *owner) {
  u8 *hash = SCRATCH->commitment;
  Seed parts[3] = {
      {COMMITMENT_TAG, sizeof COMMITMENT_TAG - 1}, {intent_id, NONCE_BYTES}, {owner, ADDRESS_BYTES}};
  sol_sha256(parts, 3, hash);
  for (u64 i = 0; i < INTENT_ID_BYTES - NONCE_BYTES; i++) {
    u64 bit = 5 * i;
    u32 pair = (u32)hash[bit / 8] << 8 | hash[bit / 8 + 1];
    if (CROCKFORD[pair >> (11 - bit % 8) & 31] != intent_id[NONCE_BYTES + i]) return 0;
  }
  return 1;
}
