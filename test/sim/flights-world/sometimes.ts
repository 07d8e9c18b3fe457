/** What a long run must have seen at least once. */
export const SOMETIMES: readonly string[] = [
  ...['request_lost', 'answer_lost', 'late', 'repeated', 'gateway_before', 'gateway_after', 'forbidden_after'].map(
    (what) => `fault: network ${what}`,
  ),
  ...['request_lost', 'answer_lost', 'slow', 'busy', 'away', 'torn', 'behind', 'not_reached', 'old'].map(
    (what) => `fault: rpc ${what}`,
  ),
  ...['swallowed', 'late', 'dropped_fork'].map((what) => `fault: send ${what}`),
  ...['forgotten', 'forgotten_with_history'].map((what) => `fault: memory ${what}`),
  'fault: host down',
  ...['silent', 'silent_but_done', 'done_later', 'twice', 'rate_limited', 'slow'].map(
    (what) => `fault: airline ${what}`,
  ),
  ...['serialization', 'deadlock', 'cut_before', 'cut_after'].map((what) => `fault: database ${what}`),
  ...['before', 'after'].map((what) => `fault: crash ${what}`),
  ...['before', 'after'].map((what) => `fault: power ${what}`),
  'the power takes what nobody waited for',
  ...['forward', 'back'].map((what) => `fault: clock ${what}`),
  ...['settling', 'queued', 'ordering', 'ticketing', 'capturing', 'booked', 'refunding', 'refunded', 'stuck'].map(
    (state) => `booking: ${state}`,
  ),
  ...['active', 'booked', 'refunded'].map((status) => `intent: ${status}`),
  ...['claimed', 'settling', 'settled', 'answered', 'failed'].map((state) => `settlement: ${state}`),
  ...['planned', 'sent', 'done', 'failed'].map((state) => `effect: ${state}`),
  ...['settling', 'received', 'approved', 'refunded', 'rejected'].map((state) => `refund: ${state}`),
  ...['open', 'captured', 'refunded', 'closed'].map((state) => `escrow: ${state}`),
  ...['booked', 'refunded'].map((status) => `a customer is told: ${status}`),
  'log: payment_recovered',
  'log: settlement_unknown',
  'log: effect_unresolved',
  'log: booking_postponed',
  'log: stuck_resolved',
  ...['silent', 'silent_but_done', 'slow'].map((what) => `fault: carrier ${what}`),
  ...['booked', 'pending', 'payment_pressed_no_confirmation', 'price_differs', 'form_rejected', 'captcha'].map(
    (what) => `carrier: ${what}`,
  ),
  ...['opened', 'pending', 'check_failed'].map((what) => `fare menu: ${what}`),
  ...['paid', 'not paid'].map((what) => `operator: the bank says ${what}`),
  'slow offers come in',
  ...['cancelled', 'rescheduled'].map((what) => `airline by itself: ${what}`),
  ...['lost', 'late', 'twice', 'forged'].map((what) => `fault: message ${what}`),
  'operator: approves what the airline cancelled',
  'told: daily_limit_reached',
  'somebody comes by an affiliate',
  'somebody comes by a code of his own',
  'an affiliate is paid',
  'a process dies',
  'a service cannot start',
  'the worker fails and goes on',
];

/** The same where rows are on a server, which has no disk of the services to forget. */
export const SOMETIMES_ON_POSTGRES: readonly string[] = [
  ...SOMETIMES,
  ...['cut', 'restart', 'away'].map((what) => `fault: server ${what}`),
];
