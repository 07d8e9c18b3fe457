// Every refusal has a code of its own. They start at 101, so that none can be taken for an error of the token
// program (0 to 20) or of the system program (0 to 8), which a failed call into them passes up unchanged.
// The same table stands in src/escrow/errors.ts and docs/escrow.md; a test compares the three.
#pragma once

#define REFUSALS(X)                    \
  X(UNKNOWN_INSTRUCTION, 101)          \
  X(WRONG_DATA_LENGTH, 102)            \
  X(TOO_FEW_ACCOUNTS, 103)             \
  X(TOO_MANY_ACCOUNTS, 104)            \
  X(MISSING_SIGNATURE, 105)            \
  X(NOT_WRITABLE, 106)                 \
  X(WRONG_SYSTEM_PROGRAM, 107)         \
  X(WRONG_TOKEN_PROGRAM, 108)          \
  X(WRONG_STATE_ADDRESS, 109)          \
  X(ALREADY_OPEN, 110)                 \
  X(STATE_NOT_OURS, 111)               \
  X(STATE_UNREADABLE, 112)             \
  X(NOT_OPEN, 113)                     \
  X(NOT_ENDED, 114)                    \
  X(WRONG_AUTHORITY, 115)              \
  X(AMOUNT_ZERO, 116)                  \
  X(DEADLINE_NOT_AHEAD, 117)           \
  X(PARTY_INVALID, 118)                \
  X(PARTIES_EQUAL, 119)                \
  X(WRONG_MINT, 120)                   \
  X(WRONG_VAULT, 121)                  \
  X(VAULT_UNUSABLE, 122)               \
  X(VAULT_NOT_EMPTY, 123)              \
  X(UNDERFUNDED, 124)                  \
  X(REFUND_NOT_DUE, 125)               \
  X(WRONG_RENT_PAYER, 126)             \
  X(DESTINATION_IS_VAULT, 127)         \
  X(DESTINATION_NOT_TOKEN_ACCOUNT, 128) \
  X(DESTINATION_WRONG_MINT, 129)       \
  X(DESTINATION_WRONG_OWNER, 130)      \
  X(NOTHING_TO_SWEEP, 131)             \
  X(VAULT_STILL_THERE, 132)            \
  X(CLOSE_TOO_EARLY, 133)              \
  X(RENT_UNKNOWN, 134)                 \
  X(ESCROW_STILL_THERE, 135)           \
  X(OWNER_NOT_COMMITTED, 136)          \
  X(WRONG_LAYOUT, 137)                 \
  X(DEADLINES_REVERSED, 138)           \
  X(DEADLINE_PASSED, 139)              \
  X(BALANCES_DIFFER, 140)              \
  X(AMOUNT_EXCEEDS, 141)               \
  X(PART_INVALID, 142)                 \
  X(NOT_CONSENTED, 143)                \
  X(CONSENT_EXPIRED, 144)              \
  X(SOURCE_UNUSABLE, 145)

#define AS_CONSTANT(name, code) name = code,
enum { OK = 0, REFUSALS(AS_CONSTANT) };
#undef AS_CONSTANT

#define REQUIRE(condition, refusal) \
  do {                              \
    if (!(condition)) return refusal; \
  } while (0)

#define TRY(expression)             \
  do {                              \
    u64 refusal_ = (expression);    \
    if (refusal_ != OK) return refusal_; \
  } while (0)
