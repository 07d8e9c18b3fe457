import { problem } from '../../../kernel/problems.ts';
import { quoted } from '../../../kernel/shell-word.ts';
import { fieldLines, fromNow, listView, type Paint, type Screen, utcTime } from '../../../terminal/index.ts';
import type { AttestationRecord, OpenedAttestation } from '../../../wire/partner/index.ts';
import type { Run } from '../../spec/index.ts';
import { nextLines, printPlan } from '../../view/index.ts';
import { statusWords } from '../../view/partner/index.ts';
import type * as spec from './spec.ts';

export const attestationsList: Run<typeof spec.attestationsList> = async ({ terminal, session, signal, clock }) => {
  await session.work();
  const found = await (await session.partnerDesk()).attestations({ signal });
  terminal.result(found, attestationsView(clock.now()));
  const [first] = found.attestations;
  if (first) terminal.aside(['', ...nextLines(`farelock attestations show ${quoted(first.attestation_id)}`)]);
  return 0;
};

/** Shows an attestation with its customer data; the audit trail records that it was read. */
export const attestationShow: Run<typeof spec.attestationsShow> = async (context, { attestationId }) => {
  const { terminal, session, signal } = context;
  await session.work();
  const opened = await (await session.partnerDesk()).attestation(attestationId, { signal });
  terminal.result(opened, { lines: openedAttestationLines });
  terminal.aside(['', ...nextLines(`farelock attestations decide ${quoted(attestationId)} passed`)]);
  return 0;
};

/**
 * Asks, then records a person's verdict, which may overturn an earlier one.
 * @throws Problem `attestation_not_found`, `declined`
 */
export const attestationDecide: Run<typeof spec.attestationsDecide> = async (
  { terminal, session, signal, globals },
  { attestationId, verdict, reason },
) => {
  await session.work();
  const desk = await session.partnerDesk();
  const words = verdict === 'passed' ? 'Pass it' : 'Reject it';
  if (globals.dryRun || !globals.yes) {
    const listed = (await desk.attestations({ signal })).attestations.find(
      ({ attestation_id }) => attestation_id === attestationId,
    );
    // The list leaves out passed attestations. Reading one by its id is recorded in the audit trail.
    const now = listed ?? (await desk.attestation(attestationId, { signal }));
    const step = `${words}: ${now.type} of ${now.customer_id}, which ${STATES[now.state]}.`;
    if (globals.dryRun) return printPlan(terminal, [step], { attestation_id: attestationId, verdict });
    const prompts = terminal.ask('--yes');
    terminal.note(step);
    if (!(await prompts.confirm('Record this decision?', false))) throw problem('declined');
  }
  const decision = { verdict, ...(reason !== undefined && { reason }) };
  const decided = await desk.decideAttestation(attestationId, decision, { signal });
  terminal.result(decided, {
    lines: ({ type, customer_id, state }, { paint }) => [
      `${state === 'passed' ? paint.good('✓') : paint.bad('✗')} ${type} of ${customer_id}: ${state}`,
    ],
  });
  return 0;
};

const STATES: Readonly<Record<AttestationRecord['state'], string>> = {
  running: 'waits',
  passed: 'passed',
  rejected: 'was rejected',
};

const stateText = (state: AttestationRecord['state'], paint: Paint): string =>
  state === 'rejected' ? paint.bad(state) : paint.warn(STATES[state]);

const typeWords = (type: string): string => statusWords(type).replace(/^Aml\b/, 'AML');

const attestationsView = (nowMs: number) =>
  listView('attestations', {
    none: 'No attestations are waiting for a decision.',
    columns: ({ paint }) => [
      { title: 'Id', cell: (one) => one.attestation_id },
      { title: 'Type', cuts: true, cell: (one) => typeWords(one.type) },
      { title: 'Customer', cuts: true, cell: (one) => one.customer_id },
      { title: 'State', cell: ({ state }) => stateText(state, paint) },
      { title: 'Since', cell: (one) => fromNow(one.started_at, nowMs) },
    ],
    row: (one: AttestationRecord) => [one.attestation_id, one.type, one.customer_id, one.state, one.started_at],
  });

/** A longer value is a file in base64: its size is shown instead, and `--json` has the value. */
const LONGEST_SHOWN = 2_000;

const openedAttestationLines = (one: OpenedAttestation, { paint }: Screen): string[] => [
  `${paint.bold(one.attestation_id)}  ${STATES[one.state]}`,
  ...fieldLines(paint.dim, [
    ['Type', typeWords(one.type)],
    ['Customer', one.customer_id],
    ['Since', utcTime(one.started_at)],
    ['Ended', one.finished_at && utcTime(one.finished_at)],
    ['Decided by', one.decided_by],
    ['Reason', one.reason],
  ]),
  '',
  ...(one.data.length === 0
    ? ['Its data has been deleted.']
    : fieldLines(
        paint.dim,
        one.data.flatMap((piece) => fieldsOf(piece)),
      )),
];

function fieldsOf(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, inner]) => fieldsOf(inner, path ? `${path}.${name}` : name));
  }
  const text = String(value);
  return [[path, text.length > LONGEST_SHOWN ? `a file of ${Math.floor((text.length * 3) / 4)} bytes` : text]];
}
