// What Open and Authorize share: the addresses that they check, the account that they make, the terms that they freeze.
#pragma once
#include "errors.h"
#include "programs.h"
#include "solana.h"
#include "state.h"

static u64 check_party(const u8 *party, const Account *state, const Account *vault) {
  REQUIRE(!same(party, SYSTEM_PROGRAM) && !same(party, state->address) && !same(party, vault->address),
          PARTY_INVALID);
  return OK;
}

// Both addresses are searched here rather than believed: a bump that the caller chose could make a second escrow
// for the same intent.
OUTLINED static u64 find_state(const Call *call, const Account *state, u8 version, const u8 *hash, u8 *bump) {
  Seed seeds[2] = {prefix_of(version), {hash, ADDRESS_BYTES}};
  u8 *found = SCRATCH->found_address;
  REQUIRE(sol_try_find_program_address(seeds, 2, call->program, found, bump) == 0, WRONG_STATE_ADDRESS);
  REQUIRE(same(found, state->address), WRONG_STATE_ADDRESS);
  return OK;
}

OUTLINED static u64 check_new_vault(const Account *vault, const Account *state, const Account *mint) {
  REQUIRE(is_mint(mint), WRONG_MINT);
  Seed seeds[3] = {{state->address, ADDRESS_BYTES}, {TOKEN_PROGRAM, ADDRESS_BYTES}, {mint->address, ADDRESS_BYTES}};
  u8 *found = SCRATCH->found_address;
  u8 bump;
  REQUIRE(sol_try_find_program_address(seeds, 3, ASSOCIATED_TOKEN_PROGRAM, found, &bump) == 0, WRONG_VAULT);
  REQUIRE(same(found, vault->address), WRONG_VAULT);
  REQUIRE(is_token_account(vault) && same(token_owner(vault), state->address) &&
              same(token_mint(vault), mint->address) && is_plain_token_account(vault),
          VAULT_UNUSABLE);
  return OK;
}

typedef struct {
  u8 version, bump;
  const u8 *hash;
  const Account *authority, *mint, *rent_payer, *vault;
  const u8 *treasury, *refund_owner;
  u64 amount;
  i64 refund_after, opened_at;
} Terms;

// A stranger may have sent lamports to the address, and CreateAccount refuses one that has any. So: top up what is
// missing, then allocate and assign.
OUTLINED static u64 create_state(const Call *call, Account *state, const Terms *terms) {
  u64 bytes = terms->version == VERSION_AUTHORIZATION ? sizeof(Authorization) : sizeof(Escrow);
  EscrowSigner signer;
  signer_of(&signer, terms->version, terms->hash, &terms->bump);
  u64 needed = rent_exempt_lamports(bytes);
  REQUIRE(needed != 0, RENT_UNKNOWN);
  if (*state->lamports < needed) TRY(system_transfer(terms->rent_payer, state, needed - *state->lamports));
  TRY(system_allocate(state, bytes, &signer.signer));
  TRY(system_assign(state, call->program, &signer.signer));

  Escrow *escrow = (Escrow *)state->data;
  sol_memcpy_(escrow->magic, MAGIC, sizeof MAGIC);
  escrow->version = terms->version;
  escrow->state = STATE_OPEN;
  escrow->bump = terms->bump;
  sol_memcpy_(escrow->hash, terms->hash, ADDRESS_BYTES);
  sol_memcpy_(escrow->authority, terms->authority->address, ADDRESS_BYTES);
  sol_memcpy_(escrow->mint, terms->mint->address, ADDRESS_BYTES);
  sol_memcpy_(escrow->treasury, terms->treasury, ADDRESS_BYTES);
  sol_memcpy_(escrow->refund_owner, terms->refund_owner, ADDRESS_BYTES);
  sol_memcpy_(escrow->rent_payer, terms->rent_payer->address, ADDRESS_BYTES);
  sol_memcpy_(escrow->vault, terms->vault->address, ADDRESS_BYTES);
  escrow->amount = terms->amount;
  escrow->refund_after = terms->refund_after;
  escrow->opened_at = terms->opened_at;
  return OK;
}
