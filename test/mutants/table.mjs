/** The sharpest deliberate bugs: each would move money that must not move, or lose what was paid for. */
export const MUTANTS = [
  // Charging
  m('a payment pays another request, too', 'payments', 'again', { ignores: 'request_digest' }, 'payments/paywall'),
  m('a challenge for one body pays for another', 'payments', 'bind', { ignores: 'request_digest' }, 'payments/paywall'),
  m('a challenge for another payee is honoured', 'payments', 'first', { ignores: 'payTo' }, 'payments/paywall'),
  m(
    'a payment that cannot be charged is not undone',
    'payments',
    'conclude',
    { without: 'visit.call.undo' },
    'payments/outcome',
  ),
  m('money moves before what has to be on record is', 'payments', 'sign', { without: 'prepare' }, 'payments/paywall'),
  m('an answered call is done once more', 'payments', 'deliver', { ignores: 'answered' }, 'payments/paywall'),
  m(
    'the payer’s signature is not checked',
    'payments',
    'whyNotPayable',
    { believes: 'verifyEd25519' },
    'payments/attacks',
  ),
  // Effects and the chain
  m('two attempts of one effect are alive', 'effects', 'attemptAt', { leaves: 'live_key' }, 'effects/effects'),
  m(
    'a transaction is sent before it is written down',
    'effects',
    'chain',
    { does: ['await cluster.send(signed.wire)', 'begin'] },
    'effects/effects',
  ),
  m(
    'a worker that lost its lease sends an earlier attempt',
    'effects',
    'resolve',
    { without: 'fence' },
    'effects/effects',
  ),
  m(
    'an airline that did not answer is ordered from once more',
    'effects',
    'airline',
    { without: 'find', times: 2 },
    'effects/effects',
  ),
  m('money that leaves for good is gone below finalized', 'effects', 'ENDS_FINALIZED', { is: '[]' }, 'effects/effects'),
  m('the history of the fee payer is not asked', 'solana', 'fateOf', { believes: 'isAbsent' }, 'payments/landing'),
  // Storage
  m('an act is let through whose row was overtaken', 'store', 'checkHeld', { ignores: 'fence' }, 'store/queue'),
  m('a write waits for no disk', 'store', 'mustLast', { gives: 'false' }, 'store/syncs'),
  m(
    'a reader sees what may still be undone',
    'store',
    'carriedOut',
    { without: 'untilCommitted' },
    'store/libsql/group-commit',
  ),
  m('a sealed value opens in another row', 'kernel', 'secretsFrom', { without: 'setAAD', times: 2 }, 'kernel/kernel'),
  // Bookings
  m('a stranger takes a payer’s lock', 'flights', 'prepare', { ignores: 'funding_wallet' }, 'flights/base/wallets'),
  m(
    'more is locked in a day than the operator takes',
    'flights',
    'checkDay',
    { gives: 'undefined' },
    'flights/bookings/limits',
  ),
  m(
    'an escrow on a stranger’s terms is taken for ours',
    'flights',
    'read',
    { believes: 'isOurs' },
    'flights/bookings/intents',
  ),
  m(
    'a price that went up is paid from the escrow',
    'flights',
    'checkPriceHolds',
    { gives: 'undefined' },
    'flights/upkeep/worker',
  ),
  m(
    'trouble of our own is taken for an answer of the airline',
    'flights',
    'afterProblem',
    { believes: 'isProblem' },
    'flights/bookings/unknown-outcome',
  ),
  m(
    'a confirmed order is captured without a ticket',
    'flights',
    'afterOrder',
    { ignores: 'ticketed' },
    'flights/upkeep/worker',
  ),
  m(
    'a runner goes on after an operator has moved its booking',
    'flights',
    'moveBooking',
    { leaves: 'fence' },
    'flights/bookings/machine',
  ),
  m(
    'the money goes back while the airline shows an order',
    'flights',
    'lateTicket',
    { gives: 'null' },
    'flights/desk/stuck',
  ),
  // Refunds
  m(
    'a refund is paid out before the airline has cancelled',
    'flights',
    'carryOut',
    { without: 'cancel' },
    'flights/operator',
  ),
  m('a decided case is approved once more', 'flights', 'checkUndecided', { gives: 'undefined' }, 'flights/operator'),
  m(
    'a second pay-out is signed without a look at the history',
    'flights',
    'hasLanded',
    { gives: 'false' },
    'flights/refunds/payouts',
  ),
  m(
    'a name lets in without its support code',
    'flights',
    'checkIdentity',
    { believes: 'codeIsRight' },
    'flights/refunds/requests',
  ),
  // Airlines
  m(
    'an empty list proves that there is no order',
    'airlines/duffel',
    'look',
    { believes: 'isSoldToAnother' },
    'airlines/duffel/create-order',
  ),
  m('the till may ask for any price', 'airlines', 'priceDiffers', { gives: 'null' }, 'airlines/browser/journey'),
  // The tool
  m('a payment is given up while it can still land', 'client', 'deliver', { believes: 'blocksLeft' }, 'client/payer'),
  m(
    'the daily limit is passed by one payment',
    'client',
    'mayBePaid',
    { ignores: 'spent perDay amount' },
    'client/base/spending',
  ),
  m('--yes spends real money', 'client', 'mayBeAgreedTo isRealMoney', { is: 'false' }, 'client/base/spending'),
  m('an escrow that holds the money is paid once more', 'client', 'checkEscrow', { leaves: 'held' }, 'client/booking'),
  m(
    'the tool pays into an escrow that refunds a stranger',
    'client',
    'disagreements',
    { gives: '[]' },
    'client/booking',
  ),
  // Partners
  m('a stale If-Match writes', 'partner', 'updateOrder', { believes: 'expected version' }, 'partner/orders/orders'),
  m(
    'a partner reads another partner’s order',
    'partner',
    'ordersRow',
    { drops: ['where', 'partner_id'] },
    'partner/keys-matrix',
  ),
  m(
    'an order whose answer was lost is called untaken',
    'partner',
    'tryUntilAnswered',
    { ignores: 'lost' },
    'partner/platforms/outbound',
  ),
  m('a name that turns to a private address is called', 'partner', 'exchange', { leaves: 'lookup' }, 'partner/ssrf'),
];

/** @param name what goes wrong @param by the test that has to fail, below `test` */
function m(name, room, of, change, by) {
  return { name, in: room, of, ...change, by: [`test/${by}.test.ts`] };
}
