import { fieldLines, tableLines } from '../../../terminal/table.ts';
import type { Screen, View } from '../../../terminal/terminal.ts';
import { fromNow, utcTime } from '../../../terminal/times.ts';
import type {
  AttestationRecord,
  AttestationRecords,
  OpenedAttestation,
} from '../../../wire/partner/index.ts';
import { statusWords } from './order.ts';

/** The state of an attestation, in words. */
export const STATES: Readonly<Record<AttestationRecord['state'], string>> = {
  running: 'waits',
  passed: 'passed',
  rejected: 'was rejected',
};

const typeWords = (type: string): string => statusWords(type).replace(/^Aml\b/, 'AML');

/** Attestations that are running, and those that were rejected. */
export const attestationsView = (nowMs: number): View<AttestationRecords> => ({
  list: 'attestations',
  lines: ({ attestations }, { paint, width }) =>
    attestations.length === 0
      ? ['No attestations are waiting for a decision.']
      : tableLines(
          [
            { title: 'Id' },
            { title: 'Type', cuts: true },
            { title: 'Customer', cuts: true },
            { title: 'State' },
            { title: 'Since' },
          ],
          attestations.map((one) => [
            one.attestation_id,
            typeWords(one.type),
            one.customer_id,
            one.state === 'rejected' ? paint.bad(one.state) : paint.warn(STATES[one.state]),
            fromNow(one.started_at, nowMs),
          ]),
          paint.dim,
          width,
        ),
  rows: ({ attestations }) =>
    attestations.map((one) => [one.attestation_id, one.type, one.customer_id, one.state, one.started_at]),
});

/** A file's base64 is longer than what a person types, and is for programs: `--json` has it. */
const LONGEST_SHOWN = 2_000;

/** One, with the data that it is about: a line for each field, and the size of each file. */
export const openedAttestationLines = (one: OpenedAttestation, { paint }: Screen): string[] => [
  `${paint.bold(one.attestation_id)}  ${STATES[one.state]}`,
  ...fieldLines(
    [
      ['Type', typeWords(one.type)],
      ['Customer', one.customer_id],
      ['Since', utcTime(one.started_at)],
      ['Ended', one.finished_at && utcTime(one.finished_at)],
      ['Decided by', one.decided_by],
      ['Reason', one.reason],
    ],
    paint.dim,
  ),
  '',
  ...(one.data.length === 0
    ? ['Its data has been deleted.']
    : fieldLines(
        one.data.flatMap((piece) => fieldsOf(piece, '')),
        paint.dim,
      )),
];

function fieldsOf(value: unknown, path: string): [string, string][] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, inner]) => fieldsOf(inner, path ? `${path}.${name}` : name));
  }
  const text = String(value);
  return [
    [path, text.length > LONGEST_SHOWN ? `a file of ${Math.floor((text.length * 3) / 4)} bytes` : text],
  ];
}
