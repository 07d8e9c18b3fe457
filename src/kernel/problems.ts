/**
 * The one catalogue of expected failures. A code is part of the contract (spec/flight-service.md, Errors;
 * CONTRACT, sections 1, 7 and 15); its words are for people. `status` is the HTTP status, absent for what only
 * the tool itself raises; `exit` is the tool's exit code; `fix` is the next step.
 */
export interface ProblemKind {
  readonly status?: number;
  readonly exit: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 130;
  readonly message: string;
  readonly fix: string;
  readonly retryable?: true;
}

const UPSTREAM = { exit: 7, retryable: true } as const;

export const PROBLEMS = {
  // Requests
  invalid_request: {
    status: 400,
    exit: 2,
    message: 'The request has fields that are not valid.',
    fix: 'Correct the fields named in detail.issues.',
  },
  body_incomplete: {
    status: 400,
    exit: 7,
    message: 'The connection ended before the body did.',
    fix: 'Send the request again; nothing was done.',
    retryable: true,
  },
  invalid_json: { status: 400, exit: 2, message: 'The body is not JSON.', fix: 'Send a JSON object.' },
  invalid_wallet: {
    status: 400,
    exit: 2,
    message: 'That is not a Solana wallet address.',
    fix: 'Use the base58 address of an ed25519 wallet.',
  },
  funding_wallet_not_payer: {
    status: 400,
    exit: 2,
    message: 'funding_wallet is not the wallet that pays for this call.',
    fix: 'Pay with the wallet of funding_wallet, or leave the field out; nothing was charged.',
  },
  refund_wallet_without_account: {
    status: 400,
    exit: 2,
    message: 'The refund wallet has no token account that can take a refund.',
    fix: 'Open its token account for detail.mint, or name another refund wallet; nothing was charged.',
  },
  refund_account_missing: {
    exit: 7,
    retryable: true,
    message: 'A refund waits: the refund wallet has no token account that can take it.',
    fix: 'Open the token account of the refund wallet again; anybody can. The refund then follows by itself.',
  },
  refund_wallet_not_allowed: {
    status: 400,
    exit: 2,
    message: 'That address cannot be a refund wallet: it belongs to the operator or to a program.',
    fix: 'Name a wallet of your own; nothing was charged.',
  },
  invalid_payment_signature: {
    status: 400,
    exit: 6,
    message: 'PAYMENT-SIGNATURE is not a payment that can be read.',
    fix: 'Read the latest PAYMENT-REQUIRED challenge and sign again.',
  },
  invalid_sponsored_preview: {
    status: 400,
    exit: 6,
    message: 'The sponsored preview was not accepted.',
    fix: 'Sign this request anew with the gateway key, or pay: leave the X-GATEWAY-SPONSORED- headers out.',
  },
  duplicate_passenger: {
    status: 400,
    exit: 2,
    message: 'Two passengers are the same person.',
    fix: 'List every traveller once.',
  },
  passenger_count_mismatch: {
    status: 400,
    exit: 2,
    message: 'The number of passengers is not what the intent was made for.',
    fix: 'Send exactly detail.expected passengers.',
  },
  travel_document_required: {
    status: 400,
    exit: 2,
    message: 'This booking needs nationality, passport_number and passport_expiry for every passenger.',
    fix: 'Add the travel documents; nothing was charged.',
  },
  travel_document_expired: {
    status: 400,
    exit: 2,
    message: 'A passport has expired.',
    fix: 'Use a passport that is still valid; nothing was charged.',
  },
  method_not_allowed: {
    status: 405,
    exit: 2,
    message: 'That method is not served here.',
    fix: 'Use a method of the Allow header.',
  },
  payload_too_large: { status: 413, exit: 2, message: 'The body is larger than 64 KiB.', fix: 'Send less.' },
  unsupported_media_type: {
    status: 415,
    exit: 2,
    message: 'Only application/json is read.',
    fix: 'Send Content-Type: application/json.',
  },
  not_found: {
    status: 404,
    exit: 3,
    message: 'There is nothing at this address.',
    fix: 'Look the path up in /openapi.json.',
  },
  internal_error: {
    status: 500,
    exit: 1,
    message: 'Something failed on our side.',
    fix: 'Try again; quote the request id if it stays.',
    retryable: true,
  },

  address_unencrypted: {
    exit: 4,
    message: 'The address of the service begins with http://, and is not on this machine.',
    fix: 'Use https://. On a network that only you use, name the host in http_hosts or FARELOCK_HTTP_HOSTS.',
  },
  native_missing: {
    exit: 1,
    message: 'A native package that this machine needs is not installed.',
    fix: 'Install farelock again with its optional packages: npm install --include=optional farelock.',
  },

  // Partner platforms
  partner_url_refused: {
    status: 400,
    exit: 2,
    message: "The partner's platform address is not one that may be called.",
    fix: 'Use https on port 443 or 8443 and a host on the public internet; in demo, http to a loopback address too.',
  },
  partner_unavailable: {
    ...UPSTREAM,
    status: 503,
    message: 'The partner cannot be reached at the moment.',
    fix: 'Try again with the same Idempotency-Key, or choose another partner.',
  },
  partner_answer_invalid: {
    ...UPSTREAM,
    status: 503,
    message: "The partner's answer cannot be used.",
    fix: 'Choose another partner; the operator has the answer in the audit log.',
  },

  // Identity
  support_code_required: {
    status: 401,
    exit: 4,
    message: 'The X-Customer-Support-Code header is missing.',
    fix: 'Send the code that was shown when the intent was created.',
  },
  family_name_required: {
    status: 401,
    exit: 4,
    message: 'The X-Passenger-Family-Name header is missing.',
    fix: "Send the lead passenger's family name.",
  },
  support_code_mismatch: {
    status: 403,
    exit: 4,
    message: 'The customer support code does not belong to this order.',
    fix: 'Use the code that was shown when the intent was created.',
  },
  identity_mismatch: {
    status: 403,
    exit: 4,
    message: 'The support code or the family name does not match.',
    fix: 'Check both.',
  },
  too_many_attempts: {
    status: 429,
    exit: 4,
    message: 'Too many wrong attempts.',
    fix: 'Wait as long as Retry-After says.',
    retryable: true,
  },
  too_many_requests: {
    status: 429,
    ...UPSTREAM,
    message: 'Too many payments of this wallet ended in a refusal, for which the airline had to be asked.',
    fix: 'Wait as long as Retry-After says; nothing was charged.',
  },

  // Payment
  payment_required: {
    status: 402,
    exit: 6,
    message: 'This call is paid.',
    fix: 'Sign the PAYMENT-REQUIRED challenge and send it as PAYMENT-SIGNATURE.',
  },
  payment_verification_failed: {
    status: 402,
    exit: 6,
    message: 'The payment was not accepted.',
    fix: 'Read the new challenge and sign again; nothing was charged.',
  },
  payment_settlement_failed: {
    status: 402,
    exit: 6,
    message: 'The payment could not be settled on chain.',
    fix: 'Nothing was charged. Check the balance and sign the new challenge.',
  },
  payment_pending: {
    status: 503,
    ...UPSTREAM,
    message: 'The payment is still being settled.',
    fix: 'Send the same request with the same PAYMENT-SIGNATURE again.',
  },

  // Offers and intents
  offer_not_found: {
    status: 404,
    exit: 3,
    message: 'That offer is not known, or no longer.',
    fix: 'Search again.',
  },
  search_not_found: {
    status: 404,
    exit: 3,
    message: 'That search is not known, or no longer.',
    fix: 'Search again.',
  },
  intent_not_found: {
    status: 404,
    exit: 3,
    message: 'That intent is not known.',
    fix: 'Check the intent id.',
  },
  order_not_found: {
    status: 404,
    exit: 3,
    message: 'That order is not known.',
    fix: 'Read order_id from the intent once it is booked.',
  },
  affiliate_not_found: {
    status: 404,
    exit: 3,
    message: 'That affiliate code is not known.',
    fix: 'Check the code, or make one with POST /affiliates.',
  },
  intent_already_exists: {
    status: 409,
    exit: 5,
    message: 'An active intent for this wallet and offer exists.',
    fix: 'Use the intent of detail.intent_id.',
  },
  offer_unsupported: {
    status: 409,
    exit: 5,
    message: 'That offer cannot be escrowed here.',
    fix: 'Choose an offer in USD between 10.00 and 10000.00.',
  },
  offer_unavailable: { status: 409, exit: 5, message: 'That offer is no longer sold.', fix: 'Search again.' },
  offer_expired: {
    status: 409,
    exit: 5,
    message: 'The offer has expired.',
    fix: 'Search again; nothing was charged.',
  },
  offer_repriced: {
    status: 409,
    exit: 5,
    message: 'The airline changed the price.',
    fix: 'Search again; nothing was charged.',
  },
  lowcost_booking_unavailable: {
    status: 409,
    exit: 5,
    message: 'Lowcost offers cannot be booked at the moment.',
    fix: 'Choose another offer, or try again later; nothing was charged.',
    retryable: true,
  },
  fare_check_failed: {
    status: 409,
    exit: 5,
    message: 'The last look at the fares of that offer failed.',
    fix: 'Open its fare menu again after detail.retry_at, or choose another offer.',
  },
  fare_menu_expired: {
    status: 409,
    exit: 5,
    message: 'The fare menu of that offer is not open, or no longer fresh.',
    fix: 'Open it with POST /air/offer-details, then lock one of its fares.',
  },
  invalid_fare_index: {
    status: 409,
    exit: 5,
    message: 'The fare menu of that offer has no such fare.',
    fix: 'Use the offer_id of a fare in its menu.',
  },
  intent_not_active: {
    status: 409,
    exit: 5,
    message: 'The intent is no longer active.',
    fix: 'Read its status; create a new intent to book again.',
  },
  intent_expired: {
    status: 409,
    exit: 5,
    message: 'The booking window of this intent has closed.',
    fix: 'Create a new intent; nothing was charged.',
  },
  escrow_missing: {
    status: 409,
    exit: 5,
    message: 'The escrow of this intent is not open on chain.',
    fix: 'Create a new intent; nothing was charged.',
  },
  escrow_funding_mismatch: {
    status: 409,
    exit: 5,
    message: 'The escrow does not hold exactly the expected amount.',
    fix: 'Send the same booking again with the same payment; excess goes to the refund wallet.',
  },
  booking_already_requested: {
    status: 409,
    exit: 5,
    message: 'This intent is already being booked.',
    fix: 'Follow its status.',
  },
  use_automatic_refund: {
    status: 409,
    exit: 5,
    message: 'The intent is still active; it is refunded on its own if the booking does not happen.',
    fix: 'Follow its status; nothing was charged.',
  },
  already_refunded: {
    status: 409,
    exit: 5,
    message: 'The intent is refunded already.',
    fix: 'Look at refund_tx_hash of the intent; nothing was charged.',
  },
  refund_already_requested: {
    status: 409,
    exit: 5,
    message: 'A refund of this intent was requested already.',
    fix: 'It is being reviewed; nothing was charged.',
  },
  family_name_unavailable: {
    status: 409,
    exit: 5,
    message: "The lead passenger's name is not on record here (any more).",
    fix: 'Write to the operator of the service; nothing was charged.',
  },

  // Compliance of the partner service's customers
  compliance_required: {
    status: 400,
    exit: 5,
    message: 'The customer has not met what this order requires.',
    fix: 'Meet what detail.outstanding lists, see GetOnboardingRequirements, then order again; nothing was ordered.',
  },
  terms_changed: {
    status: 409,
    exit: 5,
    message: 'Those are not the terms that are asked for.',
    fix: 'Read the terms of GetOnboardingRequirements, and accept those.',
  },
  attestation_not_found: {
    status: 404,
    exit: 3,
    message: 'That attestation is not known.',
    fix: 'List them: farelock attestations.',
  },
  policy_invalid: {
    exit: 2,
    message: 'The compliance policy cannot be used.',
    fix: 'Correct the file that FARELOCK_COMPLIANCE_POLICY names; docs/compliance.md shows its form.',
  },

  // The partner service: keys, customers, orders
  partner_key_required: {
    status: 401,
    exit: 4,
    message: 'The X-API-Key header is missing.',
    fix: 'Send the API key of your partner account.',
  },
  partner_key_invalid: {
    status: 401,
    exit: 4,
    message: 'The API key is not valid in this environment.',
    fix: 'Use a key of this environment that was not revoked: farelock keys partner list.',
  },
  customer_token_required: {
    status: 401,
    exit: 4,
    message: "This call concerns one customer: the customer's token is missing.",
    fix: 'Send Authorization: Bearer and a token for the customer.',
  },
  customer_token_invalid: {
    status: 401,
    exit: 4,
    message: "The customer's token is not valid, or no longer.",
    fix: 'Ask for a new one; they live for minutes.',
  },
  customer_not_found: {
    status: 404,
    exit: 3,
    message: 'That customer is not known.',
    fix: 'Check the customer id.',
  },
  partner_not_found: {
    status: 404,
    exit: 3,
    message: 'That partner is not known.',
    fix: 'Check the partner id.',
  },
  partner_key_not_found: {
    status: 404,
    exit: 3,
    message: 'That partner key is not known.',
    fix: 'List them: farelock keys partner list.',
  },
  unknown_procedure: {
    status: 404,
    exit: 3,
    message: 'There is no such operation.',
    fix: 'Look the path up in /partner/openapi.json.',
  },
  invalid_status_transition: {
    status: 409,
    exit: 5,
    message: 'The order cannot go to that status from where it is.',
    fix: 'Choose one of detail.allowed.',
  },
  transaction_id_fixed: {
    status: 409,
    exit: 5,
    message: 'That transaction id is set, and does not change any more.',
    fix: 'Leave it out, or send the value that is on record.',
  },
  order_version_mismatch: {
    status: 409,
    exit: 5,
    message: 'The order has changed since it was read.',
    fix: 'Read it again, and decide anew.',
  },
  idempotency_key_reused: {
    status: 409,
    exit: 5,
    message: 'That Idempotency-Key was sent with another request.',
    fix: 'Use a new key for a new request.',
  },
  partner_key_revoked: {
    status: 409,
    exit: 5,
    message: 'That partner key is revoked, or was rotated already.',
    fix: 'Use a key that works: farelock keys partner list.',
  },
  partner_refused: {
    status: 400,
    exit: 5,
    message: 'The partner does not take this order.',
    fix: 'Read detail.customerFacingReason; choose another amount or another partner.',
  },

  // The operator's desk
  operator_key_required: {
    status: 401,
    exit: 4,
    message: 'This is for operators: the Authorization header is missing.',
    fix: 'Send Authorization: Bearer and an operator key.',
  },
  operator_key_invalid: {
    status: 401,
    exit: 4,
    message: 'The operator key is not known, or was revoked.',
    fix: 'Ask another operator for a key: farelock keys issue.',
  },
  operator_key_last: {
    status: 409,
    exit: 5,
    message: 'That is the last operator key that works.',
    fix: 'Issue another one first.',
  },
  operator_key_not_found: {
    status: 404,
    exit: 3,
    message: 'That operator key is not known.',
    fix: 'List them: farelock keys list.',
  },
  refund_request_not_found: {
    status: 404,
    exit: 3,
    message: 'That refund request is not known.',
    fix: 'List them: farelock refund queue.',
  },
  case_already_claimed: {
    status: 409,
    exit: 5,
    message: 'Another operator has this case.',
    fix: 'Take another one, or ask them to release it.',
  },
  case_already_decided: {
    status: 409,
    exit: 5,
    message: 'This case is decided.',
    fix: 'Look at it: nothing was changed.',
  },
  stuck_not_found: {
    status: 404,
    exit: 3,
    message: 'Nothing with that id waits for a person.',
    fix: 'See what does: farelock stuck list.',
  },
  stuck_already_resolved: {
    status: 409,
    exit: 5,
    message: 'It no longer waits for a person: it was decided, or has gone on.',
    fix: 'Look at it: farelock stuck show. Nothing was changed.',
  },
  decision_not_possible: {
    status: 409,
    exit: 5,
    message: 'That cannot be decided as things stand: detail.reason says why.',
    fix: 'See which decisions are open: farelock stuck show. Nothing was changed.',
  },
  payout_undecided: {
    status: 409,
    exit: 5,
    message: 'The fare does not disclose what a refund costs.',
    fix: 'Ask the airline, then name the amount to pay out, with a note.',
  },
  payout_is_zero: {
    status: 409,
    exit: 5,
    message: 'The penalty takes the whole fare: nothing would be paid out, and the ticket would be lost.',
    fix: 'Reject the request, or name an amount to pay out, with a note.',
  },
  plan_changed: {
    status: 409,
    exit: 5,
    message: 'What would move is not what was agreed to.',
    fix: 'Look at the case again; nothing was changed.',
  },
  treasury_insufficient: {
    status: 409,
    exit: 5,
    message: 'The treasury holds less than the pay-out.',
    fix: 'Fill it up, then approve again; nothing was changed.',
  },
  escrow_initialization_failed: {
    status: 502,
    ...UPSTREAM,
    message: 'The escrow could not be opened.',
    fix: 'Try again; nothing was charged.',
  },
  provider_failed: {
    status: 502,
    ...UPSTREAM,
    message: 'The airline side did not answer as it should.',
    fix: 'Try again in a moment; nothing was charged.',
  },
  provider_not_configured: {
    status: 501,
    exit: 7,
    message: 'No flight provider is configured.',
    fix: 'Ask the operator of this service.',
  },
  upstream_rate_limited: {
    status: 503,
    ...UPSTREAM,
    message: 'The airline side asks us to slow down.',
    fix: 'Wait as long as Retry-After says; nothing was charged.',
  },
  operator_funds_low: {
    status: 503,
    ...UPSTREAM,
    message: "The operator's wallets hold too little to begin anything new.",
    fix: 'Try later; nothing was charged, and what was paid for goes on.',
  },
  creation_under_way: {
    status: 503,
    ...UPSTREAM,
    message: 'Another intent of this wallet is being created.',
    fix: 'Send the same request again when it is done; nothing was charged.',
  },
  creations_busy: {
    status: 503,
    ...UPSTREAM,
    message: 'Too many intents are being created at the moment.',
    fix: 'Send the same request again in a few seconds; nothing was charged.',
  },
  booking_disabled: {
    status: 503,
    ...UPSTREAM,
    message: 'Booking is switched off for now.',
    fix: 'Try later; existing intents and refund requests are not affected.',
  },
  not_ready: {
    status: 503,
    ...UPSTREAM,
    message: 'The service is not ready.',
    fix: 'Try again in a moment.',
  },
  refund_not_due: {
    exit: 5,
    message: 'Only the operator can refund this escrow for now.',
    fix: 'Run the command again from then on; until then the operator refunds or captures.',
  },
  nothing_to_claim: {
    exit: 5,
    message: 'The escrow holds nothing.',
    fix: 'Nothing is lost: look at the intent with farelock status.',
  },
  escrow_mismatch: {
    exit: 6,
    message: 'The escrow on chain is not what the intent says.',
    fix: 'Do not pay it. Create a new intent.',
  },

  // The tool itself
  usage: { exit: 2, message: 'The command was not understood.', fix: 'See farelock --help.' },
  settings_invalid: {
    exit: 2,
    message: 'A settings file has something that is not valid.',
    fix: 'Correct the file and the key that are named.',
  },
  key_file_unreadable: {
    exit: 4,
    message: 'A file with a key cannot be used.',
    fix: 'Check its path, and that only you can read it.',
  },
  input_required: {
    exit: 2,
    message: 'Something is missing that would have been asked for.',
    fix: 'Give it as an option, or run on a terminal without --no-input.',
  },
  file_unreadable: { exit: 2, message: 'A file could not be read.', fix: 'Check its path and permissions.' },
  no_api_key: {
    exit: 4,
    message: 'There is no API key for the partner service.',
    fix: 'Give it in FARELOCK_API_KEY, or name its file with farelock config set api_key_file.',
  },
  no_customer_token: {
    exit: 4,
    message: 'This concerns one customer, and there is no token for the customer.',
    fix: 'Give it in FARELOCK_CUSTOMER_TOKEN; an operator makes one with farelock keys token <customer-id>.',
  },
  conflict: {
    exit: 5,
    message: 'That does not fit the state of things.',
    fix: 'Read it again, and decide anew.',
  },
  declined: { exit: 5, message: 'That was declined.', fix: 'Nothing was changed.' },
  data_invalid: {
    exit: 2,
    message: 'The customer data cannot be sent.',
    fix: 'Correct what is named above; nothing was sent.',
  },
  apply_invalid: {
    exit: 2,
    message: 'The file has rows that cannot be sent.',
    fix: 'Correct the rows above; nothing was sent.',
  },
  apply_conflict: {
    exit: 5,
    message: 'The result file is in use, or belongs to something else.',
    fix: 'Name another result file with --results.',
  },
  passengers_invalid: {
    exit: 2,
    message: 'The passengers are not valid.',
    fix: 'Correct the fields below; nothing was charged.',
  },
  traveller_not_found: {
    exit: 3,
    message: 'There is no saved traveller of that name.',
    fix: 'See the names, or save the traveller first.',
  },
  traveller_exists: {
    exit: 5,
    message: 'There is a traveller of that name already.',
    fix: 'Choose another name, or add --replace to write over it.',
  },
  traveller_unreadable: {
    exit: 4,
    message: 'The saved travellers cannot be read with the key ring of this home.',
    fix: 'Put the keys/client.json back that they were saved with.',
  },
  no_support_code: {
    exit: 4,
    message: 'The support code of this intent is not stored here.',
    fix: 'Give it in FARELOCK_SUPPORT_CODE.',
  },
  no_operator_key: {
    exit: 4,
    message: 'There is no operator key.',
    fix: 'Give it in FARELOCK_OPERATOR_KEY.',
  },
  keypair_unreadable: {
    exit: 4,
    message: 'The keypair file cannot be used.',
    fix: 'Use a Solana CLI keypair file that only you can read (chmod 600).',
  },
  keypair_exists: {
    exit: 5,
    message: 'There is a wallet already.',
    fix: 'Choose another path with --keypair.',
  },
  no_wallet: { exit: 4, message: 'There is no wallet.', fix: 'Make one with farelock wallet new.' },
  challenge_refused: {
    exit: 6,
    message: 'The payment challenge is not one that this tool will sign.',
    fix: 'Nothing was signed. Check the address of the service and the profile.',
  },
  terms_not_agreed: {
    exit: 6,
    message: 'The escrow has terms that were not agreed to here.',
    fix: 'Nothing was charged. Lock another fare. Only if you know who made it: name its refund wallet with book --refund-wallet.',
  },
  answer_unreadable: {
    exit: 8,
    message: 'The call was paid, and its answer cannot be read.',
    fix: 'The answer is kept as it came, and is not paid for again: farelock payments resume shows it.',
  },
  payment_above_cap: {
    exit: 6,
    message: 'The call costs more than the cap allows.',
    fix: 'Raise it with --max-payment.',
  },
  daily_limit_reached: {
    exit: 6,
    message: 'That would be more than the daily limit allows.',
    fix: 'Wait, or raise it with farelock wallet limits set --per-day; nothing was charged.',
  },
  changes_not_allowed: {
    exit: 4,
    message: 'The server was started to read.',
    fix: 'A person starts it with farelock mcp --allow-changes.',
  },
  host_not_allowed: {
    exit: 6,
    message: 'Payments to that host are not allowed.',
    fix: 'Add it with farelock wallet limits set --hosts; nothing was charged.',
  },
  payment_unverified: {
    exit: 6,
    message: 'The cluster does not bear out what the journal says.',
    fix: 'Read detail.payments; keep the payment id for the operator of the service.',
  },
  payment_declined: { exit: 6, message: 'The payment was declined.', fix: 'Nothing was charged.' },
  insufficient_funds: {
    exit: 6,
    message: 'The wallet does not hold enough.',
    fix: 'Top it up: farelock wallet airdrop, or send USDC to it.',
  },
  unexpected_answer: {
    ...UPSTREAM,
    message: 'The service answered in a way that was not understood.',
    fix: 'Check the address of the service.',
  },
  storage_full: {
    ...UPSTREAM,
    status: 503,
    message: 'There is no space left to write to.',
    fix: 'Nothing was done that is not on record. Try again later.',
  },
  storage_failed: {
    ...UPSTREAM,
    status: 503,
    message: 'The disk failed.',
    fix: 'Nothing was done that is not on record. Try again later.',
  },
  storage_not_writable: {
    status: 503,
    exit: 4,
    message: 'The place where things are kept cannot be written.',
    fix: 'Nothing was done that is not on record. Try again later.',
  },
  storage_locked: {
    ...UPSTREAM,
    status: 503,
    message: 'Another process keeps the database locked.',
    fix: 'Nothing was done that is not on record. Try again later.',
  },
  storage_damaged: {
    status: 503,
    exit: 1,
    message: 'A file is damaged.',
    fix: 'It has to be put back from a backup: farelock doctor says which.',
  },
  too_many_open_files: {
    ...UPSTREAM,
    status: 503,
    message: 'The process may not open more files.',
    fix: 'Nothing was done that is not on record. Try again later.',
  },
  database_newer: {
    exit: 5,
    message: 'The database was made by a newer farelock.',
    fix: 'Use that version.',
  },
  database_of_another_home: {
    exit: 5,
    message: 'The database belongs to another home.',
    fix: 'Use the home that made it, or another database.',
  },
  ledger_lost: {
    exit: 5,
    message: 'The ledger is not the one that this home has used.',
    fix: 'Put ledger.db and ledger.db-wal back from a backup, or start over with another home.',
  },
  database_unavailable: {
    ...UPSTREAM,
    message: 'The database of the services could not be opened.',
    fix: 'farelock doctor says what to do.',
  },
  network_unreachable: {
    ...UPSTREAM,
    message: 'The service could not be reached.',
    fix: 'Check the address and the network, then run the command again.',
  },
  timed_out: { ...UPSTREAM, message: 'That took too long.', fix: 'Run the command again; it resumes.' },
  cluster_failed: {
    status: 503,
    ...UPSTREAM,
    message: 'The Solana cluster did not answer as it should.',
    fix: 'Run the command again; it resumes.',
  },
  not_final: {
    ...UPSTREAM,
    message: 'The transaction has landed, and the cluster has not finalized its block yet.',
    fix: 'Wait some seconds; it goes on by itself.',
  },
  sandbox_on_mainnet: {
    exit: 2,
    message:
      'That cluster is mainnet, and the flights of this service are invented: it would take real USDC.',
    fix: 'Leave --rpc-url and FARELOCK_RPC_URL out: the embedded cluster has play money. Nothing was signed.',
  },
  transaction_failed: { exit: 6, message: 'The cluster refused the transaction.', fix: 'Read detail.error.' },
  booking_refunded: {
    exit: 8,
    message: 'The booking did not happen; the money went back.',
    fix: 'Search again.',
  },
  still_booking: {
    ...UPSTREAM,
    message: 'The booking is still under way.',
    fix: 'Follow it with farelock status --watch.',
  },
  booking_in_review: {
    exit: 5,
    message: 'The booking waits for a decision of the operator, who was told.',
    fix: 'Nothing needs to be done: it ends booked or refunded. Do not book it a second time.',
  },
  interrupted: { exit: 130, message: 'Interrupted.', fix: 'Run the same command again; it resumes.' },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;
type ProblemDetail = Record<string, unknown>;

export interface ProblemOptions {
  readonly message?: string;
  readonly fix?: string;
  readonly detail?: ProblemDetail;
  /** Seconds, for `Retry-After`. */
  readonly retryAfter?: number;
  /** Commands to copy, shown as the next step. */
  readonly next?: readonly string[];
  readonly cause?: unknown;
}

/** An expected failure. Thrown where it is known, caught once at the edge (HTTP handler, command line). */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly fix: string;
  readonly detail: ProblemDetail | undefined;
  readonly retryAfter: number | undefined;
  readonly next: readonly string[];

  constructor(
    readonly code: ProblemCode,
    options: ProblemOptions = {},
  ) {
    const kind: ProblemKind = PROBLEMS[code];
    super(
      options.message ?? kind.message,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.fix = options.fix ?? kind.fix;
    this.detail = options.detail;
    this.retryAfter = options.retryAfter;
    this.next = options.next ?? [];
  }

  get kind(): ProblemKind {
    return PROBLEMS[this.code];
  }

  get status(): number {
    return this.kind.status ?? 500;
  }
}

export const problem = (code: ProblemCode, options?: ProblemOptions): Problem => new Problem(code, options);

export const isProblem = (error: unknown, ...codes: ProblemCode[]): error is Problem =>
  error instanceof Problem && (codes.length === 0 || codes.includes(error.code));

export const isProblemCode = (code: unknown): code is ProblemCode =>
  typeof code === 'string' && Object.hasOwn(PROBLEMS, code);

/** The error body of the flight service: `{ code, message, detail? }` (CONTRACT, section 1). */
export const problemBody = (error: Problem) => ({
  code: error.code,
  message: `${error.message} ${error.fix}`,
  ...(error.detail ? { detail: wireDetail(error.detail) } : {}),
});

const MOST_ISSUES = 20;
const MOST_PATH = 120;
const MOST_MESSAGE = 300;
const cut = (text: unknown, most: number): unknown =>
  typeof text === 'string' && text.length > most ? `${text.slice(0, most)}…` : text;

/**
 * A detail as an answer carries it. A request's own text comes back in its issues, so there are never more of them than
 * anybody reads, and `issues_omitted` counts the rest: a small body must not get a large answer.
 */
export function wireDetail(detail: ProblemDetail): ProblemDetail {
  const { issues } = detail;
  if (!Array.isArray(issues)) return detail;
  const shown = issues.slice(0, MOST_ISSUES).map((issue: { path?: unknown; message?: unknown }) => ({
    ...issue,
    path: cut(issue.path, MOST_PATH),
    message: cut(issue.message, MOST_MESSAGE),
  }));
  const omitted = issues.length - shown.length;
  return { ...detail, issues: shown, ...(omitted > 0 && { issues_omitted: omitted }) };
}
