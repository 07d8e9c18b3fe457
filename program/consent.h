// The consent of an authorization's receiver to a capture, a refund or a void.
#pragma once
#include "errors.h"
#include "solana.h"
#include "state.h"

// Every such instruction ends with what it expects to find, and the last second at which it may be done.
#define EXPECTED_BYTES (8 + 8 + 8)

// A pair never comes twice, so that an instruction that was signed or consented to is done once, whatever is sent again.
static u64 check_expected(const Call *call, const Escrow *escrow) {
  const u8 *expected = call->data + call->data_length - EXPECTED_BYTES;
  REQUIRE(read_u64(expected) == capturable(escrow) && read_u64(expected + 8) == refundable(escrow), BALANCES_DIFFER);
  REQUIRE(now() <= (i64)read_u64(expected + 16), CONSENT_EXPIRED);
  return OK;
}

// Sysvar1nstructions1111111111111111111111111
static const u8 INSTRUCTIONS_SYSVAR[ADDRESS_BYTES] = {
    6,   167, 213, 23,  24, 123, 209, 102, 53,  218, 212, 4,   85,  253, 194, 192,
    193, 36,  198, 143, 33, 86,  117, 165, 219, 186, 203, 95,  8,   0,   0,   0};
// Ed25519SigVerify111111111111111111111111111
static const u8 ED25519_PROGRAM[ADDRESS_BYTES] = {
    3,   125, 70,  214, 124, 147, 251, 190, 18, 249, 66, 143, 131, 141, 64, 255,
    5,   112, 116, 73,  39,  244, 138, 100, 252, 202, 112, 68, 128, 0,   0,  0};

static const u8 CONSENT_DOMAIN[14] = {'x', '4', '0', '2', '-', 'a', 'c', '-', 's', 'v', 'm', '-', 'v', '1'};
// Key, signature and message follow the 16 bytes of the header.
#define KEY_AT 16
#define MESSAGE_AT (KEY_AT + ADDRESS_BYTES + 64)
#define MESSAGE_HEAD (sizeof CONSENT_DOMAIN + ADDRESS_BYTES + ADDRESS_BYTES + 8)

static inline u64 u16_at(const u8 *at) { return at[0] | (u64)at[1] << 8; }

OUTLINED static int is_equal(const u8 *left, const void *right, u64 length) {
  int difference;
  sol_memcmp_(left, right, length, &difference);
  return difference == 0;
}

// The instruction directly before this one, of which the runtime has checked the signature, has to be one Ed25519
// instruction with key, signature and message of its own: offsets into other instructions could have been put there by
// somebody else. Message: domain, program, state, opened_at, and the data of this very instruction. `opened_at` is of one
// life of the address: Close and a second Authorize with the same terms do not bring an old consent back.
static int is_signed_before(const Call *call, const Account *sysvar, const Account *state, const Escrow *escrow) {
  const u8 *list = sysvar->data;
  u64 current = u16_at(list + sysvar->data_length - 2);
  if (current == 0) return 0;
  // A count, an offset for each instruction; of an instruction: its accounts by 33 bytes, its program, its data.
  const u8 *before = list + u16_at(list + 2 * current);
  before += 2 + 33 * u16_at(before);
  if (!same(before, ED25519_PROGRAM)) return 0;
  u64 size = MESSAGE_HEAD + call->data_length;
  if (u16_at(before + ADDRESS_BYTES) != MESSAGE_AT + size) return 0;
  const u8 *signed_data = before + ADDRESS_BYTES + 2;
  const u8 header[16] = {1,    0,    KEY_AT + ADDRESS_BYTES, 0, 0xff, 0xff, KEY_AT, 0,
                         0xff, 0xff, MESSAGE_AT,             0, (u8)size, 0, 0xff, 0xff};
  const u8 *message = signed_data + MESSAGE_AT;
  return is_equal(signed_data, header, sizeof header) &&
         same(signed_data + KEY_AT, authorization(escrow)->receiver_authorizer) &&
         is_equal(message, CONSENT_DOMAIN, sizeof CONSENT_DOMAIN) &&
         same(message + sizeof CONSENT_DOMAIN, call->program) &&
         same(message + sizeof CONSENT_DOMAIN + ADDRESS_BYTES, state->address) &&
         is_equal(message + MESSAGE_HEAD - 8, &escrow->opened_at, 8) &&
         is_equal(message + MESSAGE_HEAD, call->data, call->data_length);
}

// `consent` is the authorizer, who signs, or the list of the transaction's instructions.
static u64 check_consent(const Call *call, const Account *consent, const Account *state, const Escrow *escrow) {
  if (same(consent->address, authorization(escrow)->receiver_authorizer)) {
    REQUIRE(consent->is_signer, NOT_CONSENTED);
    return OK;
  }
  REQUIRE(same(consent->address, INSTRUCTIONS_SYSVAR), NOT_CONSENTED);
  REQUIRE(is_signed_before(call, consent, state, escrow), NOT_CONSENTED);
  return OK;
}
