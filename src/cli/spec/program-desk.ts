import type { Command as Commander } from 'commander';
import type { AttestationDecideOptions, AttestationOptions } from '../commands/attestations/run.ts';
import type { AuditOptions } from '../commands/audit/run.ts';
import type { KeysIssueOptions, KeysListOptions, KeysRevokeOptions } from '../commands/keys/run.ts';
import type {
  ApproveOptions,
  CaseOptions,
  ClaimOptions,
  NoteOptions,
  QueueOptions,
  RejectOptions,
} from '../commands/refund-desk/run.ts';
import type { RefundRequestOptions } from '../commands/refund-request/run.ts';
import type { StuckOptions, StuckResolveOptions } from '../commands/stuck/run.ts';
import type { SwitchOptions } from '../commands/switch/run.ts';
import type { Command } from './context.ts';
import { addressOption, choiceOption, collected, integerOption, usdcOption } from './options.ts';
import { addPartnerKeyCommands } from './program-partner.ts';

type Runs = <O extends object>(
  load: () => Promise<Command<O>>,
) => (this: Commander, ...given: unknown[]) => void;

const STATUSES = ['received', 'approved', 'refunded', 'rejected', 'stuck'] as const;
const desk = () => import('../commands/refund-desk/run.ts');

/** `refund`: a traveller's request, and the operator's desk. */
export function addRefundCommands(program: Commander, runs: Runs): void {
  const refund = program.command('refund').description('Ask for a refund; operators: decide about requests');
  refund
    .command('request <intent-id>', { isDefault: true })
    .description('File a refund request (paid, 0.10 USDC); `refund <intent-id>` for short')
    .option('--reason <text>', 'why, up to 1000 characters')
    .option('--contact <text>', 'where to answer, up to 320 characters')
    .action(
      runs<RefundRequestOptions>(
        async () => (await import('../commands/refund-request/run.ts')).refundRequest,
      ),
    );
  refund
    .command('queue')
    .description('Operators: what waits for a decision')
    .option('--status <status>', STATUSES.join(', '), choiceOption('--status', STATUSES))
    .option('--sort <key>', 'age, journey', choiceOption('--sort', ['age', 'journey'] as const))
    .option('--limit <n>', 'how many (50)', integerOption('--limit', 1, 200))
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .action(runs<QueueOptions>(async () => (await desk()).refundQueue));
  refund
    .command('show <id>')
    .description("Operators: one case, with the fare's rule and the timeline")
    .action(runs<CaseOptions>(async () => (await desk()).refundShow));
  refund
    .command('claim <id>')
    .description('Send an overdue escrow back from the chain; operators: take a case, or give it back')
    .option('--release', 'give it back')
    .option('--force', 'with --release: also when another operator has it')
    .option(
      '--refund-wallet <address>',
      'of a closed escrow: whose the money is, where this home did not make it',
      addressOption('--refund-wallet'),
    )
    .action(runs<ClaimOptions>(async () => (await import('../commands/refund-claim/run.ts')).refundClaim));
  refund
    .command('note <id> [text]')
    .description('Operators: write a note; - reads it from standard input')
    .action(runs<NoteOptions>(async () => (await desk()).refundNote));
  refund
    .command('approve <id>')
    .description('Operators: cancel at the airline and pay out; shows what moves, then asks')
    .option('--amount <usdc>', 'pay out this, not what the fare rule gives', usdcOption('--amount'))
    .option('--note <text>', 'why; needed with --amount')
    .action(runs<ApproveOptions>(async () => (await desk()).refundApprove));
  refund
    .command('reject <id>')
    .description('Operators: decline; the customer is told why')
    .option('--reason <text>', 'what the customer is told')
    .action(runs<RejectOptions>(async () => (await desk()).refundReject));
}

const DECISIONS = ['ticketed', 'not_ticketed', 'cancelled', 'retry'] as const;
const VERDICTS = ['passed', 'rejected'] as const;
const SWITCHES = ['booking', 'lowcost'] as const;

/** `stuck`, `attestations`, `switch`, `audit`: what else is on an operator's desk. */
export function addDeskCommands(program: Commander, runs: Runs): void {
  const stuck = program.command('stuck').description('Operators: what waits for a person');
  stuck
    .command('list', { isDefault: true })
    .description('Bookings, refunds, pay-outs and effects that a person must look at')
    .action(runs<object>(async () => (await import('../commands/stuck/run.ts')).stuckList));
  stuck
    .command('show <id>')
    .description('What chain and airline say, and what can be decided')
    .action(runs<StuckOptions>(async () => (await import('../commands/stuck/run.ts')).stuckShow));
  stuck
    .command('resolve')
    .argument('<id>')
    .argument('<decision>', 'ticketed, not-ticketed, cancelled, retry', choiceOption('decision', DECISIONS))
    .description('End it by what the airline said; shows what moves, then asks')
    .option('--reference <pnr>', 'with ticketed: the booking reference')
    .option('--ticket <number>', 'with ticketed: a ticket number; once for each', collected)
    .action(runs<StuckResolveOptions>(async () => (await import('../commands/stuck/run.ts')).stuckResolve));
  const attestations = program
    .command('attestations')
    .description("Operators: customers' attestations that a person decides");
  attestations
    .command('list', { isDefault: true })
    .description('What waits, and what was rejected')
    .action(runs<object>(async () => (await import('../commands/attestations/run.ts')).attestationsList));
  attestations
    .command('show <attestation-id>')
    .description('One, with the customer data that it is about; the look is in the audit trail')
    .action(
      runs<AttestationOptions>(async () => (await import('../commands/attestations/run.ts')).attestationShow),
    );
  attestations
    .command('decide')
    .argument('<attestation-id>')
    .argument('<verdict>', VERDICTS.join(', '), choiceOption('verdict', VERDICTS))
    .description("A person's verdict, also against an earlier one; asks first")
    .action(
      runs<AttestationDecideOptions>(
        async () => (await import('../commands/attestations/run.ts')).attestationDecide,
      ),
    );
  program
    .command('switch')
    .argument('[name]', SWITCHES.join(', '), choiceOption('name', SWITCHES))
    .argument('[state]', 'on, off', choiceOption('state', ['on', 'off'] as const))
    .description('Operators: show the switches, or turn one')
    .action(runs<SwitchOptions>(async () => (await import('../commands/switch/run.ts')).turnSwitch));
  program
    .command('audit')
    .description('Operators: who did what')
    .command('list', { isDefault: true })
    .description('Newest first')
    .option('--subject <id>', 'only about this')
    .option('--limit <n>', 'how many (100)', integerOption('--limit', 1, 500))
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .action(runs<AuditOptions>(async () => (await import('../commands/audit/run.ts')).auditList));
}

/** `keys`: who may call the operator API. */
export function addKeyCommands(program: Commander, runs: Runs): void {
  const keys = program.command('keys').description('Keys of operators and partners, tokens of customers');
  keys
    .command('list')
    .description("Operators' keys: names, and when each was last used")
    .option('--limit <n>', 'how many (100)', integerOption('--limit', 1, 500))
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .action(runs<KeysListOptions>(async () => (await import('../commands/keys/run.ts')).keysList));
  keys
    .command('issue <name>')
    .description('Issue a key to an operator; it is shown once')
    .action(runs<KeysIssueOptions>(async () => (await import('../commands/keys/run.ts')).keysIssue));
  keys
    .command('revoke <key-id>')
    .description("Make an operator's key worthless")
    .action(runs<KeysRevokeOptions>(async () => (await import('../commands/keys/run.ts')).keysRevoke));
  addPartnerKeyCommands(keys, runs);
}
