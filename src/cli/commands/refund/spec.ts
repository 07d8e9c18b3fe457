import {
  addressOption,
  argument,
  choice,
  command,
  integerOption,
  intentArgument,
  option,
  passengersOption,
  usdcOption,
} from '../../spec/index.ts';

export const refundRequest = command({
  name: 'refund request',
  summary: 'File a refund request (paid, 0.10 USDC); `refund <intent-id>` for short',
  isDefault: true,
  arguments: [intentArgument],
  options: [
    option('--reason <text>', 'why, up to 1000 characters'),
    option('--contact <text>', 'where to reply, up to 320 characters'),
    option('--passenger <numbers>', 'only these travellers, as booked: 3, or 2,3', passengersOption),
  ],
  effect: 'pays',
  examples: [
    'farelock refund 1 --reason "The meeting was cancelled" --contact ana@example.com',
    'farelock refund 1 --passenger 3 --reason "Leo is ill"',
  ],
});

export const refundClaim = command({
  name: 'refund claim',
  summary: 'Get the money of an overdue escrow back; operators: claim or release a case',
  arguments: [argument('<id>', 'intent id; operators: row number in the queue, or id')],
  options: [
    option('--release', 'give it back'),
    option('--force', 'with --release: even if another operator has it'),
    option(
      '--refund-wallet <address>',
      'refund wallet of a closed escrow that was not created on this machine',
      addressOption,
    ),
  ],
  effect: 'changes',
  examples: ['farelock refund claim int_…', 'farelock refund claim 1'],
  cutOff: { look: 'refund show {id}' },
});

export const refundQueue = command({
  name: 'refund queue',
  summary: 'Operators: list requests to decide; use the row numbers in the other commands',
  options: [
    choice('--status <status>', ['received', 'approved', 'refunded', 'rejected', 'stuck']),
    choice('--sort <key>', ['age', 'journey']),
    option('--search <text>', 'only with this text in an id, the reference, the route, the day or the reason'),
    option('--limit <n>', 'how many to show (50)', integerOption(1, 200)),
    option('--cursor <cursor>', 'next_cursor of the previous page'),
  ],
  effect: 'reads',
  examples: ['farelock refund queue', 'farelock refund queue --sort journey --json request_id'],
  list: 'refund_requests',
});

export const refundShow = command({
  name: 'refund show',
  summary: 'Operators: show a case with the fare rule and its timeline',
  arguments: [argument('<id>', 'row number in the queue, or id')],
  effect: 'reads',
  examples: ['farelock refund show 1'],
});

export const refundNote = command({
  name: 'refund note',
  summary: 'Operators: write a note; - reads it from standard input',
  arguments: [argument('<id>', 'row number in the queue, or id'), argument('[text]')],
  effect: 'changes',
  examples: ['farelock refund note 1 "Called the airline"'],
  cutOff: { look: 'refund show {id}' },
});

export const refundApprove = command({
  name: 'refund approve',
  summary: 'Operators: cancel with the airline and pay out; shows the plan, then asks',
  arguments: [argument('<id>', 'row number in the queue, or id')],
  options: [
    option('--amount <usdc>', 'pay out this much instead of what the fare rule gives', usdcOption),
    option('--note <text>', 'why; required with --amount'),
  ],
  effect: 'changes',
  examples: ['farelock refund approve 1', 'farelock refund approve 2 --amount 50 --note "Goodwill"'],
  cutOff: {
    said: 'The approval may be on record; if so, the service pays out once, automatically.',
    look: 'refund show {id}',
  },
});

export const refundReject = command({
  name: 'refund reject',
  summary: 'Operators: reject; shows the e-mail, then asks',
  arguments: [argument('<id>', 'row number in the queue, or id')],
  options: [option('--reason <text>', 'the reason, for the customer')],
  effect: 'changes',
  examples: ['farelock refund reject 1 --reason "The fare is not refundable"'],
  cutOff: { look: 'refund show {id}' },
});

export const refundDesk = command({
  name: 'refund desk',
  summary: 'Operators: work through the queue live in a terminal, with a key for each command',
  options: [choice('--sort <key>', ['age', 'journey'])],
  effect: 'runs',
  examples: ['farelock refund desk', 'farelock refund desk --sort journey'],
});
