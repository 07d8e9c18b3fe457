// An escrow of tokens. Money that is in it can go to two places only, both frozen when it is opened:
// `amount` to the treasury, anything else to the refund owner. docs/escrow.md explains it for those who pay.
//
// Two kinds: the escrow of an intent, which the operator opens and a payment funds (Open), and an authorization, which the
// payer opens and funds in one transaction at an address made of the terms (Authorize).
#include "commitment.h"
#include "consent.h"
#include "errors.h"
#include "opening.h"
#include "programs.h"
#include "solana.h"
#include "state.h"

// ---- Open -----------------------------------------------------------------------------------------------------

// Tag, intent hash, amount, refund_after, treasury, refund owner.
#define OPEN_BYTES (1 + 32 + 8 + 8 + 32 + 32)

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
  TRY(find_state(call, state, VERSION_INTENT, intent_hash, &bump));
  REQUIRE(same(state->owner, SYSTEM_PROGRAM) && state->data_length == 0, ALREADY_OPEN);
  REQUIRE(amount != 0, AMOUNT_ZERO);
  REQUIRE(refund_after > opened_at, DEADLINE_NOT_AHEAD);
  TRY(check_party(treasury, state, vault));
  TRY(check_party(refund_owner, state, vault));
  REQUIRE(!same(treasury, refund_owner), PARTIES_EQUAL);
  TRY(check_new_vault(vault, state, mint));

  // Who opens an escrow names its refund owner. Tokens that lie here already belong to somebody who did not agree
  // to that: after Close, a stranger could otherwise open the address anew and take what came late.
  REQUIRE(token_amount(vault) == 0, VAULT_NOT_EMPTY);

  Terms terms = {VERSION_INTENT, bump,         intent_hash, authority,    mint,     payer,
                 vault,          treasury,     refund_owner, amount,      refund_after, opened_at};
  return create_state(call, state, &terms);
}

// ---- Authorize ------------------------------------------------------------------------------------------------

// Genesis hash of the cluster, nonce, amount, capture deadline, refund deadline, operator, receiver, its authorizer.
#define TERMS_BYTES (32 + 32 + 8 + 8 + 8 + 32 + 32 + 32)

// The hash of the payer, the mint and the terms is a seed of the address: nobody can be at it with others, and the
// payer alone can open it. The program cannot see which cluster it is on: who takes the authorization for a payment
// compares the genesis hash in it with the cluster's.
static void hash_terms(const u8 *payer, const u8 *mint, const u8 *terms, u8 *hash) {
  Seed parts[3] = {{payer, ADDRESS_BYTES}, {mint, ADDRESS_BYTES}, {terms, TERMS_BYTES}};
  sol_sha256(parts, 3, hash);
}

static u64 check_source(const Account *source, const u8 *owner, const Escrow *escrow) {
  REQUIRE(is_token_account(source) && same(token_owner(source), owner) && same(token_mint(source), escrow->mint),
          SOURCE_UNUSABLE);
  REQUIRE(source->is_writable, NOT_WRITABLE);
  return OK;
}

static u64 authorize(const Call *call) {
  LOG("Instruction: Authorize");
  TRY(expect(call, 8, 1 + TERMS_BYTES));
  const Account *payer = &call->accounts[0], *rent_payer = &call->accounts[1];
  Account *state = &call->accounts[2];
  const Account *vault = &call->accounts[3], *source = &call->accounts[4], *mint = &call->accounts[5];
  const Account *token = &call->accounts[6], *system = &call->accounts[7];
  const u8 *data = call->data + 1;
  u64 amount = read_u64(data + 64);
  i64 capture_deadline = (i64)read_u64(data + 72), refund_deadline = (i64)read_u64(data + 80);
  const Account operator= {.address = data + 88};
  const u8 *receiver = data + 120, *authorizer = data + 152;
  i64 opened_at = now();

  REQUIRE(payer->is_signer && rent_payer->is_signer, MISSING_SIGNATURE);
  REQUIRE(rent_payer->is_writable && state->is_writable && vault->is_writable, NOT_WRITABLE);
  REQUIRE(same(system->address, SYSTEM_PROGRAM), WRONG_SYSTEM_PROGRAM);
  REQUIRE(same(token->address, TOKEN_PROGRAM), WRONG_TOKEN_PROGRAM);
  u8 *hash = SCRATCH->hash, bump;
  hash_terms(payer->address, mint->address, data, hash);
  TRY(find_state(call, state, VERSION_AUTHORIZATION, hash, &bump));
  REQUIRE(same(state->owner, SYSTEM_PROGRAM) && state->data_length == 0, ALREADY_OPEN);
  REQUIRE(amount != 0, AMOUNT_ZERO);
  REQUIRE(capture_deadline > opened_at, DEADLINE_NOT_AHEAD);
  REQUIRE(refund_deadline >= capture_deadline, DEADLINES_REVERSED);
  TRY(check_party(operator.address, state, vault));
  TRY(check_party(receiver, state, vault));
  TRY(check_party(authorizer, state, vault));
  REQUIRE(!same(receiver, payer->address), PARTIES_EQUAL);
  // Tokens that lie here already are no hindrance: the address names the payer, who gets them by Sweep.
  TRY(check_new_vault(vault, state, mint));

  Terms terms = {VERSION_AUTHORIZATION, bump,     hash,           &operator, mint,            rent_payer,
                 vault,                 receiver, payer->address, amount,    capture_deadline, opened_at};
  TRY(create_state(call, state, &terms));
  Authorization *made = (Authorization *)state->data;
  sol_memcpy_(made->receiver_authorizer, authorizer, ADDRESS_BYTES);
  made->refund_deadline = refund_deadline;
  // Not by a delegate: a refund goes to the payer, who has to be the owner of what is paid.
  TRY(check_source(source, payer->address, &made->escrow));
  return token_transfer(source, vault, payer, amount, 0);
}

// ---- Capture, Refund, Sweep, Close ----------------------------------------------------------------------------

// Pays the refund owner what is left after the last capture, and closes the vault.
OUTLINED static u64 release(const Call *call, const Account *state, const Escrow *escrow, u64 left) {
  const Account *vault = &call->accounts[2], *refund = &call->accounts[4], *rent_payer = &call->accounts[5];
  if (left != 0) {
    // This program's own address stands for "none": the rest then stays for Sweep. Otherwise a refund owner who
    // makes his token account unusable and adds a unit of dust could stop the capture of a ticket until refund_after.
    if (same(refund->address, call->program)) return OK;
    TRY(pay_refund_owner(vault, refund, state, escrow, left));
  }
  return close_vault(vault, rent_payer, state, escrow);
}

static u64 capture(const Call *call) {
  LOG("Instruction: Capture");
  TRY(expect(call, 7, 1));
  const Account *authority = &call->accounts[0], *state = &call->accounts[1], *vault = &call->accounts[2];
  const Account *treasury = &call->accounts[3], *rent_payer = &call->accounts[5], *token = &call->accounts[6];
  Escrow *escrow;
  TRY(load_escrow(call, state, &escrow));
  // An authorization is captured by CapturePart: here is neither consent nor deadline.
  REQUIRE(!is_authorization(escrow), WRONG_LAYOUT);
  REQUIRE(state->is_writable, NOT_WRITABLE);
  TRY(check_authority(authority, escrow));
  REQUIRE(escrow->state == STATE_OPEN, NOT_OPEN);
  REQUIRE(same(token->address, TOKEN_PROGRAM), WRONG_TOKEN_PROGRAM);
  TRY(check_vault(vault, state, escrow));
  TRY(check_rent_payer(rent_payer, escrow));
  TRY(check_destination(treasury, escrow->treasury, escrow));
  u64 held = token_amount(vault);
  REQUIRE(held >= escrow->amount, UNDERFUNDED);

  end(escrow, STATE_CAPTURED);
  TRY(pay(vault, treasury, state, escrow, escrow->amount));
  return release(call, state, escrow, held - escrow->amount);
}

// Tag, amount, release (1: the rest goes back and the escrow ends), what is expected.
#define CAPTURE_PART_BYTES (1 + 8 + 1 + EXPECTED_BYTES)

static u64 capture_part(const Call *call) {
  LOG("Instruction: CapturePart");
  // The consent is the eighth account of an authorization; an intent has none.
  TRY(expect(call, call->account_count == 8 ? 8 : 7, CAPTURE_PART_BYTES));
  const Account *authority = &call->accounts[0], *state = &call->accounts[1], *vault = &call->accounts[2];
  const Account *treasury = &call->accounts[3], *rent_payer = &call->accounts[5], *token = &call->accounts[6];
  u64 amount = read_u64(call->data + 1);
  u8 releases = call->data[9];
  Escrow *escrow;
  TRY(load_escrow(call, state, &escrow));
  REQUIRE(is_authorization(escrow) == (call->account_count == 8), WRONG_LAYOUT);
  REQUIRE(state->is_writable, NOT_WRITABLE);
  TRY(check_authority(authority, escrow));
  REQUIRE(escrow->state == STATE_OPEN, NOT_OPEN);
  REQUIRE(now() < escrow->refund_after, DEADLINE_PASSED);
  TRY(check_expected(call, escrow));
  REQUIRE(same(token->address, TOKEN_PROGRAM), WRONG_TOKEN_PROGRAM);
  TRY(check_vault(vault, state, escrow));
  TRY(check_rent_payer(rent_payer, escrow));
  TRY(check_destination(treasury, escrow->treasury, escrow));
  REQUIRE(amount != 0, AMOUNT_ZERO);
  u64 most = capturable(escrow), held = token_amount(vault);
  REQUIRE(amount <= most, AMOUNT_EXCEEDS);
  REQUIRE(held >= most, UNDERFUNDED);
  if (is_authorization(escrow)) {
    TRY(check_consent(call, &call->accounts[7], state, escrow));
    authorization(escrow)->captured += amount;
  } else {
    REQUIRE(amount < most && releases, PART_INVALID);
    escrow->captured_in_part = 1;
    escrow->opened_at = (i64)amount;
  }

  int ends = releases || amount == most;
  if (ends) end(escrow, STATE_CAPTURED);
  TRY(pay(vault, treasury, state, escrow, amount));
  return ends ? release(call, state, escrow, held - amount) : OK;
}

// Tag, amount, what is expected.
#define REFUND_CAPTURED_BYTES (1 + 8 + EXPECTED_BYTES)

static u64 refund_captured(const Call *call) {
  LOG("Instruction: RefundCaptured");
  TRY(expect(call, 7, REFUND_CAPTURED_BYTES));
  const Account *authority = &call->accounts[0], *state = &call->accounts[1], *source = &call->accounts[2];
  const Account *funder = &call->accounts[3], *refund = &call->accounts[4], *token = &call->accounts[5];
  u64 amount = read_u64(call->data + 1);
  Escrow *escrow;
  TRY(load_escrow(call, state, &escrow));
  REQUIRE(is_authorization(escrow), WRONG_LAYOUT);
  Authorization *found = authorization(escrow);
  REQUIRE(state->is_writable, NOT_WRITABLE);
  TRY(check_authority(authority, escrow));
  REQUIRE(now() < found->refund_deadline, DEADLINE_PASSED);
  TRY(check_expected(call, escrow));
  REQUIRE(same(token->address, TOKEN_PROGRAM), WRONG_TOKEN_PROGRAM);
  REQUIRE(funder->is_signer, MISSING_SIGNATURE);
  // From the payer to the payer would count as a refund and be none.
  REQUIRE(!same(funder->address, escrow->refund_owner), SOURCE_UNUSABLE);
  TRY(check_source(source, funder->address, escrow));
  TRY(check_destination(refund, escrow->refund_owner, escrow));
  REQUIRE(amount != 0, AMOUNT_ZERO);
  REQUIRE(amount <= refundable(escrow), AMOUNT_EXCEEDS);
  TRY(check_consent(call, &call->accounts[6], state, escrow));

  found->refunded += amount;
  return token_transfer(source, refund, funder, amount, 0);
}

// Refund of an authorization by its operator, a void, needs the receiver's consent: its data and its list are longer.
#define VOID_BYTES (1 + EXPECTED_BYTES)

static u64 refund(const Call *call) {
  LOG("Instruction: Refund");
  int is_void = call->data_length == VOID_BYTES;
  TRY(expect(call, is_void ? 7 : 6, is_void ? VOID_BYTES : 1));
  const Account *authority = &call->accounts[0], *state = &call->accounts[1], *vault = &call->accounts[2];
  const Account *refund = &call->accounts[3], *rent_payer = &call->accounts[4], *token = &call->accounts[5];
  Escrow *escrow;
  TRY(load_escrow(call, state, &escrow));
  REQUIRE(state->is_writable, NOT_WRITABLE);
  REQUIRE(same(authority->address, escrow->authority), WRONG_AUTHORITY);
  REQUIRE(escrow->state == STATE_OPEN, NOT_OPEN);
  if (is_void) {
    REQUIRE(is_authorization(escrow), WRONG_LAYOUT);
    REQUIRE(authority->is_signer, MISSING_SIGNATURE);
    TRY(check_expected(call, escrow));
    TRY(check_consent(call, &call->accounts[6], state, escrow));
  } else {
    REQUIRE((authority->is_signer && !is_authorization(escrow)) || now() >= escrow->refund_after, REFUND_NOT_DUE);
  }
  REQUIRE(same(token->address, TOKEN_PROGRAM), WRONG_TOKEN_PROGRAM);
  TRY(check_vault(vault, state, escrow));
  TRY(check_rent_payer(rent_payer, escrow));
  u64 held = token_amount(vault);

  // While open, only what is above the amount can leave the vault (Sweep): less than that was never more.
  escrow->never_funded = held < capturable(escrow);
  end(escrow, STATE_REFUNDED);
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
    u64 kept = capturable(escrow);
    REQUIRE(held > kept, NOTHING_TO_SWEEP);
    return pay_refund_owner(vault, refund, state, escrow, held - kept);
  }
  if (held != 0) TRY(pay_refund_owner(vault, refund, state, escrow, held));
  return close_vault(vault, rent_payer, state, escrow);
}

// An authorization is kept while its captures can be refunded. One without captures is closed at once, yet not in the
// second in which it was opened: `opened_at` tells its life at this address from the next one (consent.h).
static int can_close(const Escrow *escrow) {
  if (!is_authorization(escrow)) return escrow->never_funded || now() - escrow->ended_at >= CLOSE_AFTER_SECONDS;
  const Authorization *found = authorization(escrow);
  return found->captured == 0 ? now() > escrow->opened_at : now() >= found->refund_deadline;
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
  // The rent payer of an authorization may close it: the operator may be somebody else, whom no rent urges.
  if (is_authorization(escrow) && same(authority->address, escrow->rent_payer))
    REQUIRE(authority->is_signer, MISSING_SIGNATURE);
  else
    TRY(check_authority(authority, escrow));
  REQUIRE(escrow->state != STATE_OPEN, NOT_ENDED);
  REQUIRE(can_close(escrow), CLOSE_TOO_EARLY);
  TRY(check_rent_payer(rent_payer, escrow));
  // Without the state account only Recover can move what lies in the vault: what came late is swept first.
  REQUIRE(same(vault->address, escrow->vault), WRONG_VAULT);
  REQUIRE(!same(vault->owner, TOKEN_PROGRAM), VAULT_STILL_THERE);

  *rent_payer->lamports += *state->lamports;
  *state->lamports = 0;
  // Zeroed, empty and handed back to the system program: an account that merely has no lamports could be revived
  // by a transfer later in the same transaction.
  sol_memset_(state->data, 0, state->data_length);
  set_data_length(state, 0);
  sol_memcpy_((u8 *)state->owner, SYSTEM_PROGRAM, ADDRESS_BYTES);
  return OK;
}

// ---- Recover --------------------------------------------------------------------------------------------------

// Tokens that belong to the address of an escrow that does not exist: it was closed, or never opened. The state account
// that named the refund owner is gone, so that the intent id itself has to name him (commitment.h), or the mint and the
// terms, whose hash with him makes the address. Anybody may send it.
static u64 recover(const Call *call) {
  LOG("Instruction: Recover");
  int is_authorized = call->data_length == 1 + ADDRESS_BYTES + TERMS_BYTES;
  TRY(expect(call, 5, is_authorized ? 1 + ADDRESS_BYTES + TERMS_BYTES : 1 + INTENT_ID_BYTES));
  Account *state = &call->accounts[0];
  const Account *vault = &call->accounts[1], *refund = &call->accounts[2];
  const Account *owner = &call->accounts[3], *token = &call->accounts[4];
  const u8 *named = call->data + 1;
  u8 version = is_authorized ? VERSION_AUTHORIZATION : VERSION_INTENT;
  u8 *hash = SCRATCH->hash, bump;
  if (is_authorized)
    hash_terms(owner->address, named, named + ADDRESS_BYTES, hash);
  else
    sha256_of(named, INTENT_ID_BYTES, hash);
  TRY(find_state(call, state, version, hash, &bump));
  // While there is an escrow, its own rules say who gets what.
  REQUIRE(!same(state->owner, call->program), ESCROW_STILL_THERE);
  REQUIRE(same(token->address, TOKEN_PROGRAM), WRONG_TOKEN_PROGRAM);
  REQUIRE(vault->is_writable && owner->is_writable, NOT_WRITABLE);
  REQUIRE(is_token_account(vault) && same(token_owner(vault), state->address), WRONG_VAULT);
  TRY(check_token_account(refund, owner->address, token_mint(vault), vault->address));
  REQUIRE(is_authorized || commits_to(named, owner->address), OWNER_NOT_COMMITTED);
  u64 held = token_amount(vault);

  EscrowSigner signer;
  signer_of(&signer, version, hash, &bump);
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
    case 6: return authorize(&call);
    case 7: return capture_part(&call);
    case 8: return refund_captured(&call);
    default: return UNKNOWN_INSTRUCTION;
  }
}
