// The state account of an escrow, and what every instruction checks of the accounts that it is given.
#pragma once
#include "errors.h"
#include "programs.h"
#include "solana.h"

static const u8 MAGIC[8] = {'F', 'A', 'R', 'E', 'L', 'O', 'C', 'K'};
// Version 1: an escrow that Open made. Version 2: one that Authorize made, which is longer.
#define VERSION_INTENT 1
#define VERSION_AUTHORIZATION 2
#define CLOSE_AFTER_SECONDS (30L * 24 * 60 * 60)

enum { STATE_OPEN = 1, STATE_CAPTURED = 2, STATE_REFUNDED = 3 };

// The state account of version 1, and the first 272 bytes of version 2.
typedef struct {
  u8 magic[8];
  u8 version;
  u8 state;
  u8 bump;
  // 1 once a refund found less than the amount in the vault: the escrow was never paid (see refund).
  u8 never_funded;
  // Version 1: 1 once a part was captured. `opened_at` is then the captured amount: no other field has the room.
  u8 captured_in_part;
  u8 reserved[3];
  // sha256 of the intent id or, of version 2, of the terms: a seed of the address.
  u8 hash[ADDRESS_BYTES];
  u8 authority[ADDRESS_BYTES];
  u8 mint[ADDRESS_BYTES];
  u8 treasury[ADDRESS_BYTES];
  u8 refund_owner[ADDRESS_BYTES];
  u8 rent_payer[ADDRESS_BYTES];
  u8 vault[ADDRESS_BYTES];
  u64 amount;
  i64 refund_after;
  i64 opened_at;
  i64 ended_at;
} Escrow;
_Static_assert(sizeof(Escrow) == 272, "the layout is part of the contract");

// The state account of version 2.
typedef struct {
  Escrow escrow;
  u8 receiver_authorizer[ADDRESS_BYTES];
  u64 captured;
  u64 refunded;
  i64 refund_deadline;
  u8 reserved[8];
} Authorization;
_Static_assert(sizeof(Authorization) == 336, "the layout is part of the contract");

static inline int is_authorization(const Escrow *escrow) { return escrow->version == VERSION_AUTHORIZATION; }
static inline Authorization *authorization(const Escrow *escrow) { return (Authorization *)escrow; }

// The expected pair: both only fall together or one by one, so that no pair comes twice in the life of an escrow.
static inline u64 capturable(const Escrow *escrow) {
  if (escrow->state != STATE_OPEN) return 0;
  return is_authorization(escrow) ? escrow->amount - authorization(escrow)->captured : escrow->amount;
}
static inline u64 refundable(const Escrow *escrow) {
  return is_authorization(escrow) ? authorization(escrow)->captured - authorization(escrow)->refunded : 0;
}

// The seeds by which an escrow signs for its vault: ["escrow", sha256(intent id), bump], or ["auth", sha256(terms), bump].
typedef struct {
  Seed seeds[3];
  Signer signer;
} EscrowSigner;

static const u8 INTENT_PREFIX[6] = {'e', 's', 'c', 'r', 'o', 'w'};
static const u8 AUTHORIZATION_PREFIX[4] = {'a', 'u', 't', 'h'};

static inline Seed prefix_of(u8 version) {
  return version == VERSION_AUTHORIZATION ? (Seed){AUTHORIZATION_PREFIX, sizeof AUTHORIZATION_PREFIX}
                                          : (Seed){INTENT_PREFIX, sizeof INTENT_PREFIX};
}

OUTLINED static void signer_of(EscrowSigner *signer, u8 version, const u8 *hash, const u8 *bump) {
  signer->seeds[0] = prefix_of(version);
  signer->seeds[1] = (Seed){hash, ADDRESS_BYTES};
  signer->seeds[2] = (Seed){bump, 1};
  signer->signer = (Signer){signer->seeds, 3};
}

// Exactly so many accounts: a shorter list would be read past its end, a longer one hides something.
static u64 expect(const Call *call, u64 account_count, u64 data_length) {
  REQUIRE(call->data_length == data_length, WRONG_DATA_LENGTH);
  REQUIRE(call->account_count >= account_count, TOO_FEW_ACCOUNTS);
  REQUIRE(call->account_count == account_count, TOO_MANY_ACCOUNTS);
  return OK;
}

// Only this program can have written to an account that it owns, and only Open and Authorize write the magic: a forgery
// has another owner, and an account that somebody else assigned to us holds zeros.
OUTLINED static u64 load_escrow(const Call *call, const Account *account, Escrow **escrow) {
  REQUIRE(same(account->owner, call->program), STATE_NOT_OURS);
  Escrow *found = (Escrow *)account->data;
  u8 version = account->data_length == sizeof(Escrow)          ? VERSION_INTENT
               : account->data_length == sizeof(Authorization) ? VERSION_AUTHORIZATION
                                                               : 0;
  REQUIRE(version != 0 && found->version == version, STATE_UNREADABLE);
  REQUIRE(*(u64 *)found->magic == *(const u64 *)MAGIC, STATE_UNREADABLE);
  *escrow = found;
  return OK;
}

OUTLINED static u64 check_authority(const Account *account, const Escrow *escrow) {
  REQUIRE(same(account->address, escrow->authority), WRONG_AUTHORITY);
  REQUIRE(account->is_signer, MISSING_SIGNATURE);
  return OK;
}

OUTLINED static u64 check_rent_payer(const Account *account, const Escrow *escrow) {
  REQUIRE(same(account->address, escrow->rent_payer), WRONG_RENT_PAYER);
  REQUIRE(account->is_writable, NOT_WRITABLE);
  return OK;
}

static u64 check_vault(const Account *vault, const Account *state, const Escrow *escrow) {
  REQUIRE(same(vault->address, escrow->vault), WRONG_VAULT);
  REQUIRE(vault->is_writable, NOT_WRITABLE);
  REQUIRE(is_token_account(vault) && same(token_owner(vault), state->address) &&
              same(token_mint(vault), escrow->mint),
          VAULT_UNUSABLE);
  return OK;
}

// Any token account of `owner` will do, not only the associated one: that one can have been given away or frozen.
OUTLINED static u64 check_token_account(const Account *to, const u8 *owner, const u8 *mint, const u8 *vault) {
  REQUIRE(!same(to->address, vault), DESTINATION_IS_VAULT);
  REQUIRE(is_token_account(to), DESTINATION_NOT_TOKEN_ACCOUNT);
  REQUIRE(same(token_mint(to), mint), DESTINATION_WRONG_MINT);
  REQUIRE(same(token_owner(to), owner), DESTINATION_WRONG_OWNER);
  REQUIRE(to->is_writable, NOT_WRITABLE);
  return OK;
}

static u64 check_destination(const Account *to, const u8 *owner, const Escrow *escrow) {
  return check_token_account(to, owner, escrow->mint, escrow->vault);
}

OUTLINED static u64 pay(const Account *vault, const Account *to, const Account *state, const Escrow *escrow,
                        u64 amount) {
  EscrowSigner signer;
  signer_of(&signer, escrow->version, escrow->hash, &escrow->bump);
  return token_transfer(vault, to, state, amount, &signer.signer);
}

static u64 pay_refund_owner(const Account *vault, const Account *to, const Account *state, const Escrow *escrow,
                            u64 amount) {
  TRY(check_destination(to, escrow->refund_owner, escrow));
  return pay(vault, to, state, escrow, amount);
}

OUTLINED static u64 close_vault(const Account *vault, const Account *rent_payer, const Account *state,
                                const Escrow *escrow) {
  EscrowSigner signer;
  signer_of(&signer, escrow->version, escrow->hash, &escrow->bump);
  return token_close(vault, rent_payer, state, &signer.signer);
}

static void end(Escrow *escrow, u8 state) {
  escrow->state = state;
  escrow->ended_at = now();
}
