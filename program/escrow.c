// The escrow of one booking intent. Money that is in it can go to two places only, both frozen when it is opened:
// `amount` to the treasury, anything else to the refund owner. docs/escrow.md explains it for those who pay.
#include "commitment.h"
#include "errors.h"
#include "programs.h"
#include "solana.h"
#include "state.h"

// ---- Open -----------------------------------------------------------------------------------------------------

// Tag, intent hash, amount, refund_after, treasury, refund owner.
#define OPEN_BYTES (1 + 32 + 8 + 8 + 32 + 32)

static u64 check_party(const u8 *party, const Account *state, const Account *vault) {
  REQUIRE(!same(party, SYSTEM_PROGRAM) && !same(party, state->address) && !same(party, vault->address),
          PARTY_INVALID);
  return OK;
}

// Both addresses are searched here rather than believed: a bump that the caller chose could make a second escrow
// for the same intent.
static u64 find_state(const Call *call, const Account *state, const u8 *intent_hash, u8 *bump) {
  Seed seeds[2] = {{SEED_PREFIX, sizeof SEED_PREFIX}, {intent_hash, ADDRESS_BYTES}};
  u8 *found = SCRATCH->found_address;
  REQUIRE(sol_try_find_program_address(seeds, 2, call->program, found, bump) == 0, WRONG_STATE_ADDRESS);
  REQUIRE(same(found, state->address), WRONG_STATE_ADDRESS);
  return OK;
}

static u64 check_new_vault(const Account *vault, const Account *state, const Account *mint) {
  REQUIRE(is_mint(mint), WRONG_MINT);
  Seed seeds[3] = {{state->address, ADDRESS_BYTES}, {TOKEN_PROGRAM, ADDRESS_BYTES}, {mint->address, ADDRESS_BYTES}};
  u8 *found = SCRATCH->found_address;
  u8 bump;
  REQUIRE(sol_try_find_program_address(seeds, 3, ASSOCIATED_TOKEN_PROGRAM, found, &bump) == 0, WRONG_VAULT);
  REQUIRE(same(found, vault->address), WRONG_VAULT);
  REQUIRE(is_token_account(vault) && same(token_owner(vault), state->address) &&
              same(token_mint(vault), mint->address) && is_plain_token_account(vault),
          VAULT_UNUSABLE);
  // Who opens an escrow names its refund owner. Tokens that lie here already belong to somebody who did not agree
  // to that: after Close, a stranger could otherwise open the address anew and take what came late.
  REQUIRE(token_amount(vault) == 0, VAULT_NOT_EMPTY);
  return OK;
}

// A stranger may have sent lamports to the address, and CreateAccount refuses one that has any. So: top up what is
// missing, then allocate and assign.
static u64 create_state(const Call *call, const Account *payer, Account *state, const Signer *signer) {
  u64 needed = rent_exempt_lamports(sizeof(Escrow));
  REQUIRE(needed != 0, RENT_UNKNOWN);
  if (*state->lamports < needed) TRY(system_transfer(payer, state, needed - *state->lamports));
  TRY(system_allocate(state, sizeof(Escrow), signer));
  return system_assign(state, call->program, signer);
}

static u64 open(const Call *call) {
  LOG("Instruction: Open");
  TRY(expect(call, 6, OPEN_BYTES));
  const Account *authority = &call->accounts[0], *payer = &call->accounts[1];
  Account *state = &call->accounts[2];
  const Account *vault = &call->accounts[3], *mint = &call->accounts[4], *system = &call->accounts[5];
  const u8 *intent_hash = call->data + 1, *treasury = call->data + 49, *refund_owner = call->data + 81;
  u64 amount = read_u64(call->data + 33);
  i64 refund_after = (i64)read_u64(call->data + 41);
  i64 opened_at = now();

  REQUIRE(authority->is_signer && payer->is_signer, MISSING_SIGNATURE);
  REQUIRE(payer->is_writable && state->is_writable, NOT_WRITABLE);
  REQUIRE(same(system->address, SYSTEM_PROGRAM), WRONG_SYSTEM_PROGRAM);
  u8 bump;
  TRY(find_state(call, state, intent_hash, &bump));
  REQUIRE(same(state->owner, SYSTEM_PROGRAM) && state->data_length == 0, ALREADY_OPEN);
  REQUIRE(amount != 0, AMOUNT_ZERO);
  REQUIRE(refund_after > opened_at, DEADLINE_NOT_AHEAD);
  TRY(check_party(treasury, state, vault));
  TRY(check_party(refund_owner, state, vault));
  REQUIRE(!same(treasury, refund_owner), PARTIES_EQUAL);
  TRY(check_new_vault(vault, state, mint));

  EscrowSigner signer;
  signer_of(&signer, intent_hash, &bump);
  TRY(create_state(call, payer, state, &signer.signer));

  Escrow *escrow = (Escrow *)state->data;
  sol_memcpy_(escrow->magic, MAGIC, sizeof MAGIC);
  escrow->version = VERSION;
  escrow->state = STATE_OPEN;
  escrow->bump = bump;
  sol_memcpy_(escrow->intent_hash, intent_hash, ADDRESS_BYTES);
  sol_memcpy_(escrow->authority, authority->address, ADDRESS_BYTES);
  sol_memcpy_(escrow->mint, mint->address, ADDRESS_BYTES);
  sol_memcpy_(escrow->treasury, treasury, ADDRESS_BYTES);
  sol_memcpy_(escrow->refund_owner, refund_owner, ADDRESS_BYTES);
  sol_memcpy_(escrow->rent_payer, payer->address, ADDRESS_BYTES);
  sol_memcpy_(escrow->vault, vault->address, ADDRESS_BYTES);
  escrow->amount = amount;
  escrow->refund_after = refund_after;
  escrow->opened_at = opened_at;
  return OK;
}

// ---- Capture, Refund, Sweep, Close ----------------------------------------------------------------------------

static void end(Escrow *escrow, u8 state) {
  escrow->state = state;
  escrow->ended_at = now();
}

static u64 capture(const Call *call) {
  LOG("Instruction: Capture");
  TRY(expect(call, 7, 1));
  const Account *authority = &call->accounts[0], *state = &call->accounts[1], *vault = &call->accounts[2];
  const Account *treasury = &call->accounts[3], *refund = &call->accounts[4];
  const Account *rent_payer = &call->accounts[5], *token = &call->accounts[6];
  Escrow *escrow;
  TRY(load_escrow(call, state, &escrow));
  REQUIRE(state->is_writable, NOT_WRITABLE);
  TRY(check_authority(authority, escrow));
  REQUIRE(escrow->state == STATE_OPEN, NOT_OPEN);
  REQUIRE(same(token->address, TOKEN_PROGRAM), WRONG_TOKEN_PROGRAM);
  TRY(check_vault(vault, state, escrow));
  TRY(check_rent_payer(rent_payer, escrow));
  TRY(check_destination(treasury, escrow->treasury, escrow));
  u64 held = token_amount(vault);
  REQUIRE(held >= escrow->amount, UNDERFUNDED);
  u64 excess = held - escrow->amount;

  end(escrow, STATE_CAPTURED);
  EscrowSigner signer;
  signer_of(&signer, escrow->intent_hash, &escrow->bump);
  TRY(token_transfer(vault, treasury, state, escrow->amount, &signer.signer));
  if (excess != 0) {
    // This program's own address stands for "none": the excess then stays for Sweep. Otherwise a refund owner who
    // makes his token account unusable and adds a unit of dust could stop the capture of a ticket until refund_after.
    if (same(refund->address, call->program)) return OK;
    TRY(pay_refund_owner(vault, refund, state, escrow, excess));
  }
  return close_vault(vault, rent_payer, state, escrow);
}

static u64 refund(const Call *call) {
  LOG("Instruction: Refund");
  TRY(expect(call, 6, 1));
  const Account *authority = &call->accounts[0], *state = &call->accounts[1], *vault = &call->accounts[2];
  const Account *refund = &call->accounts[3], *rent_payer = &call->accounts[4], *token = &call->accounts[5];
  Escrow *escrow;
  TRY(load_escrow(call, state, &escrow));
  REQUIRE(state->is_writable, NOT_WRITABLE);
  REQUIRE(same(authority->address, escrow->authority), WRONG_AUTHORITY);
  REQUIRE(escrow->state == STATE_OPEN, NOT_OPEN);
  REQUIRE(authority->is_signer || now() >= escrow->refund_after, REFUND_NOT_DUE);
  REQUIRE(same(token->address, TOKEN_PROGRAM), WRONG_TOKEN_PROGRAM);
  TRY(check_vault(vault, state, escrow));
  TRY(check_rent_payer(rent_payer, escrow));
  u64 held = token_amount(vault);

  end(escrow, STATE_REFUNDED);
  // While open, only what is above the amount can leave the vault (Sweep): less than that was never more.
  escrow->never_funded = held < escrow->amount;
  if (held != 0) TRY(pay_refund_owner(vault, refund, state, escrow, held));
  return close_vault(vault, rent_payer, state, escrow);
}

static u64 sweep(const Call *call) {
  LOG("Instruction: Sweep");
  TRY(expect(call, 5, 1));
  const Account *state = &call->accounts[0], *vault = &call->accounts[1], *refund = &call->accounts[2];
  const Account *rent_payer = &call->accounts[3], *token = &call->accounts[4];
  Escrow *escrow;
  TRY(load_escrow(call, state, &escrow));
  REQUIRE(same(token->address, TOKEN_PROGRAM), WRONG_TOKEN_PROGRAM);
  REQUIRE(same(vault->address, escrow->vault), WRONG_VAULT);
  // After the end the vault is there only if somebody made it again.
  REQUIRE(same(vault->owner, TOKEN_PROGRAM), NOTHING_TO_SWEEP);
  TRY(check_vault(vault, state, escrow));
  TRY(check_rent_payer(rent_payer, escrow));
  u64 held = token_amount(vault);

  if (escrow->state == STATE_OPEN) {
    REQUIRE(held > escrow->amount, NOTHING_TO_SWEEP);
    return pay_refund_owner(vault, refund, state, escrow, held - escrow->amount);
  }
  if (held != 0) TRY(pay_refund_owner(vault, refund, state, escrow, held));
  return close_vault(vault, rent_payer, state, escrow);
}

static u64 close(const Call *call) {
  LOG("Instruction: Close");
  TRY(expect(call, 4, 1));
  const Account *authority = &call->accounts[0];
  Account *state = &call->accounts[1];
  const Account *vault = &call->accounts[2], *rent_payer = &call->accounts[3];
  Escrow *escrow;
  TRY(load_escrow(call, state, &escrow));
  REQUIRE(state->is_writable, NOT_WRITABLE);
  TRY(check_authority(authority, escrow));
  REQUIRE(escrow->state != STATE_OPEN, NOT_ENDED);
  REQUIRE(escrow->never_funded || now() - escrow->ended_at >= CLOSE_AFTER_SECONDS, CLOSE_TOO_EARLY);
  TRY(check_rent_payer(rent_payer, escrow));
  // Without the state account only Recover can move what lies in the vault: what came late is swept first.
  REQUIRE(same(vault->address, escrow->vault), WRONG_VAULT);
  REQUIRE(!same(vault->owner, TOKEN_PROGRAM), VAULT_STILL_THERE);

  *rent_payer->lamports += *state->lamports;
  *state->lamports = 0;
  // Zeroed, empty and handed back to the system program: an account that merely has no lamports could be revived
  // by a transfer later in the same transaction.
  sol_memset_(state->data, 0, sizeof(Escrow));
  set_data_length(state, 0);
  sol_memcpy_((u8 *)state->owner, SYSTEM_PROGRAM, ADDRESS_BYTES);
  return OK;
}

// ---- Recover --------------------------------------------------------------------------------------------------

// Tokens that belong to the address of an escrow that does not exist: it was closed, or never opened. The state account
// that named the refund owner is gone, so that the intent id itself has to name him (commitment.h). Anybody may send it.
static u64 recover(const Call *call) {
  LOG("Instruction: Recover");
  TRY(expect(call, 5, 1 + INTENT_ID_BYTES));
  Account *state = &call->accounts[0];
  const Account *vault = &call->accounts[1], *refund = &call->accounts[2];
  const Account *owner = &call->accounts[3], *token = &call->accounts[4];
  const u8 *intent_id = call->data + 1;
  u8 *intent_hash = SCRATCH->intent_hash, bump;
  sha256_of(intent_id, INTENT_ID_BYTES, intent_hash);
  TRY(find_state(call, state, intent_hash, &bump));
  // While there is an escrow, its own rules say who gets what.
  REQUIRE(!same(state->owner, call->program), ESCROW_STILL_THERE);
  REQUIRE(same(token->address, TOKEN_PROGRAM), WRONG_TOKEN_PROGRAM);
  REQUIRE(vault->is_writable && owner->is_writable, NOT_WRITABLE);
  REQUIRE(is_token_account(vault) && same(token_owner(vault), state->address), WRONG_VAULT);
  TRY(check_token_account(refund, owner->address, token_mint(vault), vault->address));
  REQUIRE(commits_to(intent_id, owner->address), OWNER_NOT_COMMITTED);
  u64 held = token_amount(vault);

  EscrowSigner signer;
  signer_of(&signer, intent_hash, &bump);
  if (held != 0) TRY(token_transfer(vault, refund, state, held, &signer.signer));
  // Whoever made the vault again paid its rent; Close returned the escrow's own long ago.
  return token_close(vault, owner, state, &signer.signer);
}

u64 entrypoint(u8 *input) {
  Call call;
  REQUIRE(read_input(input, &call), TOO_MANY_ACCOUNTS);
  REQUIRE(call.data_length != 0, WRONG_DATA_LENGTH);
  switch (call.data[0]) {
    case 0: return open(&call);
    case 1: return capture(&call);
    case 2: return refund(&call);
    case 3: return sweep(&call);
    case 4: return close(&call);
    case 5: return recover(&call);
    default: return UNKNOWN_INSTRUCTION;
  }
}
