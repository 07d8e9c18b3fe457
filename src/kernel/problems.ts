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
    message: 'Some values are not valid.',
    fix: 'Correct what is named, then try again.',
  },
  body_incomplete: {
    status: 400,
    exit: 7,
    message: 'The connection ended before the whole request arrived.',
    fix: 'Send the request again. Nothing was done.',
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
    message: 'The funding wallet is not the wallet that pays for this call.',
    fix: 'Pay with the funding wallet, or do not name one. Nothing was charged.',
  },
  refund_wallet_without_account: {
    status: 400,
    exit: 2,
    message: 'The refund wallet has no token account for a refund.',
    fix: 'Open a USDC token account for it, or use another refund wallet. Nothing was charged.',
  },
  refund_account_missing: {
    exit: 7,
    retryable: true,
    message: 'A refund is waiting: the refund wallet has no token account to receive it.',
    fix: 'Open a token account for the refund wallet; anyone can. The refund is then sent automatically.',
  },
  airport_unknown: {
    status: 400,
    exit: 2,
    message: 'No airline here knows that airport.',
    fix: 'Check the code of the airport, then search again. Nothing was charged.',
  },
  refund_wallet_not_allowed: {
    status: 400,
    exit: 2,
    message: 'That address cannot be a refund wallet: it belongs to the operator or to a program.',
    fix: 'Use a wallet of your own. Nothing was charged.',
  },
  invalid_payment_signature: {
    status: 400,
    exit: 6,
    message: 'The payment in PAYMENT-SIGNATURE cannot be read.',
    fix: 'Read the latest PAYMENT-REQUIRED challenge and sign again.',
  },
  invalid_sponsored_preview: {
    status: 400,
    exit: 6,
    message: 'The sponsored preview was not accepted.',
    fix: 'Sign this request again with the gateway key, or leave out the X-GATEWAY-SPONSORED- headers and pay.',
  },
  duplicate_passenger: {
    status: 400,
    exit: 2,
    message: 'Two passengers are the same person.',
    fix: 'List each traveller once.',
  },
  passenger_count_mismatch: {
    status: 400,
    exit: 2,
    message: 'The number of passengers does not match the locked fare.',
    fix: 'Give exactly as many passengers as the fare was locked for.',
  },
  travel_document_required: {
    status: 400,
    exit: 2,
    message: 'This booking needs the nationality, passport number and passport expiry of every passenger.',
    fix: 'Add the travel documents. Nothing was charged.',
  },
  travel_document_expired: {
    status: 400,
    exit: 2,
    message: 'A passport has expired.',
    fix: 'Use a passport that is still valid. Nothing was charged.',
  },
  method_not_allowed: {
    status: 405,
    exit: 2,
    message: 'That method is not supported here.',
    fix: 'Use a method listed in the Allow header.',
  },
  payload_too_large: {
    status: 413,
    exit: 2,
    message: 'The request is larger than 64 KiB.',
    fix: 'Send a smaller one.',
  },
  unsupported_media_type: {
    status: 415,
    exit: 2,
    message: 'Only application/json is accepted.',
    fix: 'Send Content-Type: application/json.',
  },
  not_found: {
    status: 404,
    exit: 3,
    message: 'There is nothing at this address.',
    fix: 'See /openapi.json for the paths.',
  },
  internal_error: {
    status: 500,
    exit: 1,
    message: 'Something went wrong on our side.',
    fix: 'Try again. If it keeps failing, quote the request id.',
    retryable: true,
  },

  address_unencrypted: {
    exit: 4,
    message: 'The address of the service begins with http:// and is not on this machine.',
    fix: 'Use https://. On a private network, list the host in http_hosts or FARELOCK_HTTP_HOSTS.',
  },
  native_missing: {
    exit: 1,
    message: 'A native package that this machine needs is not installed.',
    fix: 'Install farelock again with its optional packages: npm install --include=optional farelock.',
  },

  browser_missing: {
    exit: 1,
    message: 'What buys on the web sites of carriers is not installed.',
    fix: 'Install Chromium (Debian: apt-get install chromium) or name it in FARELOCK_CHROMIUM, and run npm install playwright-core mailauth postal-mime beside farelock.',
  },
  recipe_invalid: {
    exit: 2,
    message: "A carrier's recipe cannot be used.",
    fix: 'Correct what is named; docs/carriers.md lists the steps.',
  },

  // Partner platforms
  partner_url_refused: {
    status: 400,
    exit: 2,
    message: "The partner's platform address is not allowed.",
    fix: 'Use https on port 443 or 8443 and a public host. The demo also allows http to a loopback address.',
  },
  partner_unavailable: {
    ...UPSTREAM,
    status: 503,
    message: 'The partner cannot be reached right now.',
    fix: 'Try again with the same Idempotency-Key, or choose another partner.',
  },
  partner_answer_invalid: {
    ...UPSTREAM,
    status: 503,
    message: "The partner's answer cannot be used.",
    fix: 'Choose another partner. The answer is in the audit log of the operator.',
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
    fix: 'Check both, then try again.',
  },
  too_many_attempts: {
    status: 429,
    exit: 4,
    message: 'Too many wrong attempts.',
    fix: 'Wait a while, then try again.',
    retryable: true,
  },
  too_many_requests: {
    status: 429,
    ...UPSTREAM,
    message: 'Too many requests from this wallet were refused after the airline was asked.',
    fix: 'Wait a while, then try again. Nothing was charged.',
  },

  // Payment
  payment_required: {
    status: 402,
    exit: 6,
    message: 'This call needs a payment.',
    fix: 'Sign the PAYMENT-REQUIRED challenge and send it as PAYMENT-SIGNATURE.',
  },
  payment_verification_failed: {
    status: 402,
    exit: 6,
    message: 'The payment was not accepted.',
    fix: 'Read the new challenge and sign again. Nothing was charged.',
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
  offer_not_found: { status: 404, exit: 3, message: 'That offer is unknown or has expired.', fix: 'Search again.' },
  search_not_found: { status: 404, exit: 3, message: 'That search is unknown or has expired.', fix: 'Search again.' },
  intent_not_found: { status: 404, exit: 3, message: 'Unknown intent.', fix: 'Check the intent id.' },
  order_not_found: {
    status: 404,
    exit: 3,
    message: 'Unknown order.',
    fix: 'An intent has its order once it is booked.',
  },
  affiliate_not_found: {
    status: 404,
    exit: 3,
    message: 'Unknown affiliate code.',
    fix: 'Check the code, or create one.',
  },
  intent_already_exists: {
    status: 409,
    exit: 5,
    message: 'This wallet has already locked this offer.',
    fix: 'Use the intent that is already open.',
  },
  offer_unsupported: {
    status: 409,
    exit: 5,
    message: 'That offer cannot be locked here.',
    fix: 'Choose an offer in USD between 10.00 and 10000.00.',
  },
  offer_unavailable: { status: 409, exit: 5, message: 'That offer is no longer available.', fix: 'Search again.' },
  offer_expired: { status: 409, exit: 5, message: 'The offer has expired.', fix: 'Search again. Nothing was charged.' },
  offer_repriced: {
    status: 409,
    exit: 5,
    message: 'The airline changed the price.',
    fix: 'Search again. Nothing was charged.',
  },
  lowcost_booking_unavailable: {
    status: 409,
    exit: 5,
    message: 'Low-cost offers cannot be booked right now.',
    fix: 'Choose another offer, or try again later. Nothing was charged.',
    retryable: true,
  },
  fare_check_failed: {
    status: 409,
    exit: 5,
    message: 'The fares of that offer could not be looked up.',
    fix: 'Open its fare menu again later, or choose another offer.',
  },
  fare_menu_expired: {
    status: 409,
    exit: 5,
    message: 'The fare menu of that offer is not open or has expired.',
    fix: 'Open the offer again, then lock one of its fares.',
  },
  invalid_fare_index: {
    status: 409,
    exit: 5,
    message: 'The fare menu of that offer has no such fare.',
    fix: 'Choose one of the fares in its menu.',
  },
  intent_not_active: {
    status: 409,
    exit: 5,
    message: 'The intent is no longer active.',
    fix: 'Check its status. To book again, lock the fare again.',
  },
  intent_expired: {
    status: 409,
    exit: 5,
    message: 'The lock has expired.',
    fix: 'Lock the fare again. Nothing was charged.',
  },
  escrow_missing: {
    status: 409,
    exit: 5,
    message: 'The escrow is not open on chain.',
    fix: 'Lock the fare again. Nothing was charged.',
  },
  escrow_funding_mismatch: {
    status: 409,
    exit: 5,
    message: 'The escrow does not hold exactly the expected amount.',
    fix: 'Send the same booking again with the same payment. Any excess goes to the refund wallet.',
  },
  booking_already_requested: {
    status: 409,
    exit: 5,
    message: 'This booking is already in progress.',
    fix: 'Follow its status.',
  },
  use_automatic_refund: {
    status: 409,
    exit: 5,
    message: 'The booking is still open. If it does not happen, the money comes back automatically.',
    fix: 'Follow its status. Nothing was charged.',
  },
  already_refunded: {
    status: 409,
    exit: 5,
    message: 'This booking has already been refunded.',
    fix: 'Its status shows the transaction. Nothing was charged.',
  },
  refund_already_requested: {
    status: 409,
    exit: 5,
    message: 'A refund has already been requested.',
    fix: 'An operator will review it. Nothing was charged.',
  },
  family_name_unavailable: {
    status: 409,
    exit: 5,
    message: "The lead passenger's name is no longer on record.",
    fix: 'Write to the operator of the service. Nothing was charged.',
  },

  // Compliance of the partner service's customers
  compliance_required: {
    status: 400,
    exit: 5,
    message: 'The customer has not met the requirements for this order.',
    fix: 'Complete the outstanding requirements, then order again. Nothing was ordered.',
  },
  terms_changed: {
    status: 409,
    exit: 5,
    message: 'The terms have changed.',
    fix: 'Read the current terms and accept those.',
  },
  attestation_not_found: {
    status: 404,
    exit: 3,
    message: 'Unknown attestation.',
    fix: 'List them: farelock attestations.',
  },
  policy_invalid: {
    exit: 2,
    message: 'The compliance policy cannot be used.',
    fix: 'Correct the file named by FARELOCK_COMPLIANCE_POLICY. docs/compliance.md shows its format.',
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
    fix: 'Use a working key of this environment: farelock keys partner list.',
  },
  customer_token_required: {
    status: 401,
    exit: 4,
    message: "This call is about one customer, and the customer's token is missing.",
    fix: "Send the customer's token as Authorization: Bearer.",
  },
  customer_token_invalid: {
    status: 401,
    exit: 4,
    message: "The customer's token is not valid, has expired, or is of a customer who is not linked to this partner.",
    fix: 'Ask for a new one: a token lasts a few minutes. An operator links a customer with POST /operator/customers/{customer_id}.',
  },
  customer_blocked: {
    status: 403,
    exit: 4,
    message: 'This customer is blocked.',
    fix: 'Only an operator can unblock the customer.',
  },
  customer_not_found: { status: 404, exit: 3, message: 'Unknown customer.', fix: 'Check the customer id.' },
  partner_not_found: { status: 404, exit: 3, message: 'Unknown partner.', fix: 'Check the partner id.' },
  partner_key_not_found: {
    status: 404,
    exit: 3,
    message: 'Unknown partner key.',
    fix: 'List them: farelock keys partner list.',
  },
  unknown_procedure: {
    status: 404,
    exit: 3,
    message: 'Unknown operation.',
    fix: 'See /partner/openapi.json for the paths.',
  },
  invalid_status_transition: {
    status: 409,
    exit: 5,
    message: 'The order cannot move to that status from its current one.',
    fix: 'Choose one of the allowed statuses.',
  },
  transaction_id_fixed: {
    status: 409,
    exit: 5,
    message: 'The transaction id is already set and cannot be changed.',
    fix: 'Leave it out, or send the value on record.',
  },
  order_outside_offer: {
    status: 400,
    exit: 5,
    message: 'The partner does not sell this.',
    fix: 'Choose another amount or another partner: GetAvailablePartners lists what is sold.',
  },
  order_finished: {
    status: 409,
    exit: 5,
    message: 'The order has ended: its amounts, deposit account and return details are fixed.',
    fix: 'Leave the field out, or send the value on record.',
  },
  order_in_doubt: {
    status: 503,
    exit: 7,
    message: 'It is not known yet whether the platform took this order.',
    fix: 'Send the update again after Retry-After. Answer the next Create Order request for it with 200.',
  },
  order_version_mismatch: {
    status: 409,
    exit: 5,
    message: 'The order has changed since it was read.',
    fix: 'Read it again, then decide.',
  },
  idempotency_key_reused: {
    status: 409,
    exit: 5,
    message: 'That Idempotency-Key was already used for another request.',
    fix: 'Use a new key for a new request.',
  },
  partner_key_revoked: {
    status: 409,
    exit: 5,
    message: 'That partner key has been revoked or rotated.',
    fix: 'Use a working key: farelock keys partner list.',
  },
  partner_refused: {
    status: 400,
    exit: 5,
    message: 'The partner declined this order.',
    fix: 'Choose another amount or another partner.',
  },

  // The operator's desk
  unauthorized: {
    status: 401,
    exit: 4,
    message: 'The signature of the message is wrong, or it is too old.',
    fix: 'Check the secret that signs it, and the clocks of both sides.',
  },
  operator_key_required: {
    status: 401,
    exit: 4,
    message: 'This is for operators: the Authorization header is missing.',
    fix: 'Send an operator key as Authorization: Bearer.',
  },
  operator_key_invalid: {
    status: 401,
    exit: 4,
    message: 'The operator key is unknown or has been revoked.',
    fix: 'Ask another operator for a key: farelock keys issue.',
  },
  operator_key_last: {
    status: 409,
    exit: 5,
    message: 'That is the last working operator key.',
    fix: 'Issue another one first.',
  },
  operator_key_not_found: {
    status: 404,
    exit: 3,
    message: 'Unknown operator key.',
    fix: 'List them: farelock keys list.',
  },
  refund_request_not_found: {
    status: 404,
    exit: 3,
    message: 'Unknown refund request.',
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
    message: 'This case has already been decided.',
    fix: 'Nothing changed.',
  },
  ticket_already_cancelled: {
    status: 409,
    exit: 5,
    message:
      'The ticket of this request is cancelled, or is being cancelled: a rejection would leave the traveller without both.',
    fix: 'Nothing changed. Approve the request, with an amount of your own if needed; or look again in a minute.',
  },
  stuck_not_found: {
    status: 404,
    exit: 3,
    message: 'No stuck case has that id.',
    fix: 'List them: farelock stuck list.',
  },
  stuck_already_resolved: {
    status: 409,
    exit: 5,
    message: 'It is no longer stuck: it was decided, or went on by itself.',
    fix: 'Nothing changed. Look at it: farelock stuck show.',
  },
  decision_not_possible: {
    status: 409,
    exit: 5,
    message: 'That decision is not possible right now.',
    fix: 'Nothing changed. See the possible decisions: farelock stuck show.',
  },
  payout_undecided: {
    status: 409,
    exit: 5,
    message: 'The fare does not say what a refund costs.',
    fix: 'Ask the airline, then set the amount to pay out, with a note.',
  },
  payout_is_zero: {
    status: 409,
    exit: 5,
    message: 'The penalty is as high as the fare: nothing would be paid out, and the ticket would be lost.',
    fix: 'Reject the request, or set an amount to pay out, with a note.',
  },
  plan_changed: {
    status: 409,
    exit: 5,
    message: 'The pay-out is no longer the one you agreed to.',
    fix: 'Nothing changed. Look at the case again.',
  },
  treasury_insufficient: {
    status: 409,
    exit: 5,
    message: 'The treasury holds less than the pay-out.',
    fix: 'Nothing changed. Top it up, then approve again.',
  },
  escrow_initialization_failed: {
    status: 502,
    ...UPSTREAM,
    message: 'The escrow could not be opened.',
    fix: 'Try again. Nothing was charged.',
  },
  provider_failed: {
    status: 502,
    ...UPSTREAM,
    message: 'The airline did not answer as expected.',
    fix: 'Try again in a moment. Nothing was charged.',
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
    message: 'The airline is limiting our requests.',
    fix: 'Wait a while, then try again. Nothing was charged.',
  },
  operator_funds_low: {
    status: 503,
    ...UPSTREAM,
    message: "The operator's wallets are too low to start anything new.",
    fix: 'Try again later. Nothing was charged, and bookings already paid for continue.',
  },
  creation_under_way: {
    status: 503,
    ...UPSTREAM,
    message: 'This wallet is already locking a fare.',
    fix: 'Try again when that is done. Nothing was charged.',
  },
  creations_busy: {
    status: 503,
    ...UPSTREAM,
    message: 'Too many fares are being locked right now.',
    fix: 'Try again in a few seconds. Nothing was charged.',
  },
  too_many_locks: {
    status: 429,
    ...UPSTREAM,
    message: 'This wallet already holds as many unpaid fares as one wallet may.',
    fix: 'Book one of them, or wait until one expires. Nothing was charged.',
  },
  booking_disabled: {
    status: 503,
    ...UPSTREAM,
    message: 'Booking is switched off for now.',
    fix: 'Try again later. Existing bookings and refund requests are not affected.',
  },
  not_ready: { status: 503, ...UPSTREAM, message: 'The service is not ready.', fix: 'Try again in a moment.' },
  refund_not_due: {
    exit: 5,
    message: 'Only the operator can refund this escrow until it is due.',
    fix: 'Run the command again once it is due.',
  },
  nothing_to_claim: {
    exit: 5,
    message: 'The escrow is empty.',
    fix: 'Nothing is lost: farelock status shows where the money went.',
  },
  escrow_mismatch: {
    exit: 6,
    message: 'The escrow on chain does not match the intent.',
    fix: 'Do not pay it. Lock the fare again.',
  },

  // The tool itself
  usage: { exit: 2, message: 'Unknown command.', fix: 'See farelock --help.' },
  settings_invalid: { exit: 2, message: 'A settings file is not valid.', fix: 'Correct the setting named above.' },
  key_file_unreadable: {
    exit: 4,
    message: 'A key file cannot be used.',
    fix: 'Check its path, and that only you can read it.',
  },
  input_required: {
    exit: 2,
    message: 'A value is missing, and nobody can be asked.',
    fix: 'Give it as an option, or run in a terminal without --no-input.',
  },
  file_unreadable: { exit: 2, message: 'A file could not be read.', fix: 'Check its path and permissions.' },
  no_api_key: {
    exit: 4,
    message: 'No API key for the partner service.',
    fix: 'Set FARELOCK_API_KEY, or name its file with farelock config set api_key_file.',
  },
  no_customer_token: {
    exit: 4,
    message: 'This is about one customer, and there is no token for the customer.',
    fix: 'Set FARELOCK_CUSTOMER_TOKEN. An operator makes one with farelock keys token <customer-id>.',
  },
  conflict: { exit: 5, message: 'That conflicts with the current state.', fix: 'Read it again, then decide.' },
  declined: { exit: 5, message: 'Declined.', fix: 'Nothing changed.' },
  data_invalid: {
    exit: 2,
    message: 'The customer data cannot be sent.',
    fix: 'Correct what is named above. Nothing was sent.',
  },
  apply_invalid: {
    exit: 2,
    message: 'The file has rows that cannot be sent.',
    fix: 'Correct the rows above. Nothing was sent.',
  },
  apply_conflict: {
    exit: 5,
    message: 'The result file is in use, or belongs to something else.',
    fix: 'Use another result file with --results.',
  },
  passengers_invalid: {
    exit: 2,
    message: 'The passengers are not valid.',
    fix: 'Correct the fields above. Nothing was charged.',
  },
  traveller_not_found: {
    exit: 3,
    message: 'No saved traveller has that name.',
    fix: 'Check the names, or save the traveller first.',
  },
  traveller_exists: {
    exit: 5,
    message: 'A traveller with that name already exists.',
    fix: 'Choose another name, or overwrite it with --replace.',
  },
  traveller_unreadable: {
    exit: 4,
    message: 'The saved travellers cannot be read with the keys of this home.',
    fix: 'Restore the keys/client.json they were saved with.',
  },
  no_support_code: { exit: 4, message: 'The support code is not saved here.', fix: 'Set FARELOCK_SUPPORT_CODE.' },
  no_operator_key: { exit: 4, message: 'No operator key.', fix: 'Set FARELOCK_OPERATOR_KEY.' },
  keypair_unreadable: {
    exit: 4,
    message: 'The keypair file cannot be used.',
    fix: 'Use a Solana CLI keypair file that only you can read (chmod 600).',
  },
  keypair_exists: { exit: 5, message: 'A wallet already exists.', fix: 'Choose another path with --keypair.' },
  no_wallet: { exit: 4, message: 'No wallet.', fix: 'Create one with farelock wallet new.' },
  challenge_refused: {
    exit: 6,
    message: 'This tool will not sign that payment challenge.',
    fix: 'Nothing was signed. Check the address of the service and the profile.',
  },
  terms_not_agreed: {
    exit: 6,
    message: 'The escrow has terms you have not agreed to.',
    fix: 'Nothing was charged. Lock another fare. Only if you know who made it, name its refund wallet with book --refund-wallet.',
  },
  answer_unreadable: {
    exit: 8,
    message: 'The call was paid for, but the answer cannot be read.',
    fix: 'The answer is kept; farelock payments resume shows it without paying again.',
  },
  payment_above_cap: {
    exit: 6,
    message: 'The call costs more than the cap allows.',
    fix: 'Raise it with --max-payment.',
  },
  daily_limit_reached: {
    exit: 6,
    message: 'That would go over the daily limit.',
    fix: 'Wait, or raise it with farelock wallet limits set --per-day. Nothing was charged.',
  },
  changes_not_allowed: {
    exit: 4,
    message: 'This server was started read-only.',
    fix: 'Ask a person to start it with farelock mcp --allow-changes.',
  },
  host_not_allowed: {
    exit: 6,
    message: 'Payments to that host are not allowed.',
    fix: 'Add it with farelock wallet limits set --hosts. Nothing was charged.',
  },
  payment_unverified: {
    exit: 6,
    message: 'The cluster does not confirm what the journal says.',
    fix: 'Give the payment id to the operator of the service.',
  },
  payment_declined: { exit: 6, message: 'Payment declined.', fix: 'Nothing was charged.' },
  insufficient_funds: {
    exit: 6,
    message: 'Not enough in the wallet.',
    fix: 'Top it up with farelock wallet airdrop, or send USDC to it.',
  },
  unexpected_answer: {
    ...UPSTREAM,
    message: 'The service gave an unexpected answer.',
    fix: 'Check the address of the service.',
  },
  storage_full: {
    ...UPSTREAM,
    status: 503,
    message: 'The disk is full.',
    fix: 'Everything done so far is on record. Try again later.',
  },
  storage_failed: {
    ...UPSTREAM,
    status: 503,
    message: 'The disk failed.',
    fix: 'Everything done so far is on record. Try again later.',
  },
  storage_not_writable: {
    status: 503,
    exit: 4,
    message: 'The data folder cannot be written.',
    fix: 'Everything done so far is on record. Try again later.',
  },
  storage_locked: {
    ...UPSTREAM,
    status: 503,
    message: 'Another process has locked the database.',
    fix: 'Everything done so far is on record. Try again later.',
  },
  storage_damaged: {
    status: 503,
    exit: 1,
    message: 'A file is damaged.',
    fix: 'Restore it from a backup: farelock doctor says which.',
  },
  too_many_open_files: {
    ...UPSTREAM,
    status: 503,
    message: 'Too many open files.',
    fix: 'Everything done so far is on record. Try again later.',
  },
  database_newer: {
    exit: 5,
    message: 'The database was created by a newer version of farelock.',
    fix: 'Update farelock.',
  },
  database_of_another_home: {
    exit: 5,
    message: 'The database belongs to another home.',
    fix: 'Use the home that created it, or another database.',
  },
  ledger_lost: {
    exit: 5,
    message: 'The ledger is not the one this home has used.',
    fix: 'Restore ledger.db and ledger.db-wal from a backup, or start over with another home.',
  },
  database_unavailable: {
    ...UPSTREAM,
    message: 'The database of the services could not be opened.',
    fix: 'Run farelock doctor to see what to do.',
  },
  network_unreachable: {
    ...UPSTREAM,
    message: 'The service could not be reached.',
    fix: 'Check the address and the network, then run the command again.',
  },
  timed_out: { ...UPSTREAM, message: 'Timed out.', fix: 'Run the command again to resume.' },
  cluster_failed: {
    status: 503,
    ...UPSTREAM,
    message: 'The Solana cluster did not answer as expected.',
    fix: 'Run the command again to resume.',
  },
  not_final: {
    ...UPSTREAM,
    message: 'The transaction has landed, but its block is not final yet.',
    fix: 'Wait a few seconds; it continues by itself.',
  },
  cluster_settings_invalid: {
    exit: 2,
    message: 'The settings of the cluster contradict each other.',
    fix: 'Correct the one that is wrong, or leave it out. Nothing was signed.',
  },
  genesis_unexpected: {
    exit: 6,
    message: 'The RPC address leads to another cluster than the settings name.',
    fix: 'Correct the address, or the network and the genesis of the settings. Nothing was signed.',
  },
  usdc_mint_missing: {
    exit: 6,
    message: 'The cluster has no such mint as the USDC of the settings.',
    fix: 'Name the mint of the USDC there: --usdc-mint <address>, or usdc_mint. Nothing was charged.',
  },
  program_missing: {
    exit: 6,
    message: 'There is no escrow program at the address of the settings.',
    fix: 'Deploy it, or name the address where it is: --escrow-program <address>. Nothing was charged.',
  },
  program_not_trusted: {
    exit: 6,
    message: 'The escrow program is not one that you trust.',
    fix: 'Nothing was charged. Compare it with the shipped one first: farelock cluster check.',
  },
  escrow_program_changed: {
    status: 503,
    ...UPSTREAM,
    message: 'The escrow program of this service is not the shipped one any more.',
    fix: 'Nothing was charged. Do not pay into it; bookings already paid for are still captured or refunded.',
  },
  mainnet_not_confirmed: {
    exit: 2,
    message: 'That cluster is MAINNET, and this service would take real USDC.',
    fix: 'Nothing was signed.',
  },
  real_tickets_for_play_money: {
    exit: 2,
    message: 'That cluster has play money, and this airline sells real tickets for real money.',
    fix: 'Use a test token of the airline, or a mainnet cluster. Nothing was sold.',
  },
  airline_of_another_service: {
    exit: 2,
    message: 'The bookings of this home are with another airline provider.',
    fix: 'Serve it with the provider that sold them, or use a home of its own (FARELOCK_HOME).',
  },
  sandbox_on_mainnet: {
    exit: 2,
    message: 'That cluster is mainnet, but the flights of this service are invented: it would take real USDC.',
    fix: 'Leave out --rpc-url and FARELOCK_RPC_URL to use play money on the embedded cluster. Nothing was signed.',
  },
  transaction_failed: {
    exit: 6,
    message: 'The cluster refused the transaction.',
    fix: 'Check the wallet and the cluster, then try again.',
  },
  program_differs: {
    exit: 6,
    message: 'The program on the cluster is not the shipped escrow program.',
    fix: 'Pay into no escrow of it. Compare with farelock cluster check.',
  },
  program_not_upgradeable: {
    exit: 5,
    message: 'That program cannot be changed with this key.',
    fix: 'Deploy the program at a new address with farelock cluster deploy --new.',
  },
  program_version_unsupported: {
    exit: 5,
    message: 'That cluster does not take programs of this version.',
    fix: 'Deploy to a cluster that runs Agave 4 or later. Nothing was sent.',
  },
  deployment_conflict: {
    exit: 5,
    message: 'Something else lies where the deployment would go on.',
    fix: 'Take its rent back with farelock cluster deploy --abort, then deploy again.',
  },
  booking_refunded: {
    exit: 8,
    message: 'The booking did not go through; the money was sent back.',
    fix: 'Search again.',
  },
  still_booking: {
    ...UPSTREAM,
    message: 'The booking is still in progress.',
    fix: 'Follow it with farelock status --watch.',
  },
  booking_in_review: {
    exit: 5,
    message: 'An operator is reviewing the booking.',
    fix: 'You need to do nothing: it will be booked or refunded. Do not book it again.',
  },
  interrupted: { exit: 130, message: 'Interrupted.', fix: 'Run the same command again to resume.' },
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
    super(options.message ?? kind.message, options.cause === undefined ? undefined : { cause: options.cause });
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

/** The same problem, in other words or with other next steps. */
export const reworded = (error: Problem, changes: Pick<ProblemOptions, 'message' | 'fix' | 'next'>): Problem =>
  new Problem(error.code, {
    message: error.message,
    fix: error.fix,
    next: error.next,
    cause: error.cause ?? error,
    ...(error.detail && { detail: error.detail }),
    ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
    ...changes,
  });

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
  const shown = issues
    .slice(0, MOST_ISSUES)
    .map((issue: { path?: unknown; message?: unknown }) => ({
      ...issue,
      path: cut(issue.path, MOST_PATH),
      message: cut(issue.message, MOST_MESSAGE),
    }));
  const omitted = issues.length - shown.length;
  return { ...detail, issues: shown, ...(omitted > 0 && { issues_omitted: omitted }) };
}
