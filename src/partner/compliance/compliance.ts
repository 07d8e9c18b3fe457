import { DAY_MS } from '../../kernel/clock.ts';
import type { WalletType } from '../../kernel/domain/exchange-codes.ts';
import type { AttestationType, DataType } from '../../wire/partner/kinds.ts';
import type { ComplianceStatus } from '../../wire/partner/requirements.ts';
import type { RunType } from '../base/index.ts';

/** The rules that make a compliance status from facts: pure, without clock and store. */

/** A document that a customer agrees to. Another version or address makes it another document. */
export interface Terms {
  readonly version: string;
  readonly termsUrl: string;
  readonly privacyPolicyUrl: string;
}

/** A requirement that the policy or a partner has of a customer. */
export type Requirement = {
  /** How many days its fulfilment is valid; null for any age. */
  readonly maxAgeDays: number | null;
  /** The network of a wallet; null for any network. */
  readonly network: WalletType | null;
} & (
  | { readonly kind: 'data'; readonly type: DataType }
  | { readonly kind: 'attestation'; readonly type: 'TERMS'; readonly terms: Terms }
  | { readonly kind: 'attestation'; readonly type: RunType }
);

export interface Submission {
  readonly dataId: string;
  readonly type: DataType;
  /** Set for a wallet. */
  readonly network: WalletType | null;
  /** Orders the submissions of a customer: the highest is the latest, even after the clock was set back. */
  readonly rank: number;
  readonly submittedAtMs: number;
  /** The day after which the document itself is no longer valid. */
  readonly expiresAtMs: number | null;
}

export interface Run {
  readonly attestationId: string;
  readonly type: RunType;
  /** `inputKey` of the attested data. */
  readonly inputKey: string;
  /** Orders the runs of a customer: the highest is the latest. */
  readonly rank: number;
  readonly state: 'running' | 'passed' | 'rejected';
  readonly finishedAtMs: number | null;
}

export interface Acceptance extends Terms {
  readonly acceptedAtMs: number;
}

export interface Facts {
  readonly submissions: readonly Submission[];
  readonly runs: readonly Run[];
  readonly acceptances: readonly Acceptance[];
}

/** The customer data of each attestation. After a rejection the first kind is asked for again. */
export const RUN_INPUTS = {
  VALIDATED_EMAIL: ['EMAIL'],
  VALIDATED_PHONE: ['PHONE'],
  VALIDATED_ID_DOCUMENT: ['ID_DOCUMENT', 'NAME'],
  LIVENESS_CHECK: ['SELFIE'],
  AML_CHECK: ['NAME', 'BIRTH_DATE', 'NATIONALITY'],
  VALIDATED_CRYPTO_WALLET: ['CRYPTO_WALLET'],
} as const satisfies Record<RunType, readonly [DataType, ...DataType[]]>;

/** Kinds of data of which a customer may have several; of any other kind only the latest counts. */
const SEVERAL: ReadonlySet<DataType> = new Set<DataType>(['BANK_ACCOUNT', 'CRYPTO_WALLET', 'TAX_ID']);

/**
 * `missing`: the customer has to act. `due`: all data is there, and the attestation can begin. `rejected`: the
 * attestation failed; `final` if no new data can reopen it.
 */
type Standing =
  | { readonly state: 'met' | 'missing' | 'running' | 'due' }
  | { readonly state: 'rejected'; readonly final: boolean };

export interface Judged {
  readonly requirement: Requirement;
  readonly standing: Standing;
  /** Ids of the data that counts, latest first; an attestation's in the order of RUN_INPUTS. */
  readonly dataIds: readonly string[];
}

export interface Assessment {
  readonly status: ComplianceStatus;
  readonly judged: readonly Judged[];
}

/** Identifies the data of an attestation, in any order. */
export const inputKey = (dataIds: readonly string[]): string => [...dataIds].sort().join('+');

/** Adds the data that attestations need, and merges equal requirements; the shortest age counts. */
function expanded(requirements: readonly Requirement[]): readonly Requirement[] {
  const asked = new Map<string, Requirement>();
  for (const requirement of requirements.flatMap(withInputs)) {
    const terms = 'terms' in requirement ? JSON.stringify(requirement.terms) : '';
    const key = [requirement.type, requirement.network, terms].join(' ');
    const known = asked.get(key);
    asked.set(key, known ? { ...known, maxAgeDays: least(known.maxAgeDays, requirement.maxAgeDays) } : requirement);
  }
  return [...asked.values()];
}

function withInputs(requirement: Requirement): readonly Requirement[] {
  if (requirement.kind === 'data' || requirement.type === 'TERMS') return [requirement];
  const inputs = RUN_INPUTS[requirement.type].map(
    (type): Requirement => ({ kind: 'data', type, maxAgeDays: null, network: requirement.network }),
  );
  return [...inputs, requirement];
}

const least = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

function judge(requirement: Requirement, facts: Facts, nowMs: number, final: ReadonlySet<AttestationType>): Judged {
  const fresh = (sinceMs: number) =>
    requirement.maxAgeDays === null || nowMs - sinceMs <= requirement.maxAgeDays * DAY_MS;
  if (requirement.kind === 'data') {
    const counting = current(facts, requirement, nowMs).filter(({ submittedAtMs }) => fresh(submittedAtMs));
    return {
      requirement,
      standing: { state: counting.length > 0 ? 'met' : 'missing' },
      dataIds: counting.map(({ dataId }) => dataId),
    };
  }
  if (requirement.type === 'TERMS') {
    const { terms } = requirement;
    const agreed = facts.acceptances.some((one) => sameTerms(one, terms) && fresh(one.acceptedAtMs));
    return { requirement, standing: { state: agreed ? 'met' : 'missing' }, dataIds: [] };
  }
  const { type, network } = requirement;
  const inputs = RUN_INPUTS[type].map((input) => current(facts, { type: input, network }, nowMs)[0]?.dataId);
  const dataIds = inputs.filter((dataId) => dataId !== undefined);
  const runs = facts.runs.filter((run) => run.type === type).sort((a, b) => b.rank - a.rank);
  const standing = (): Standing => {
    if (final.has(type) && runs.some(({ state }) => state === 'rejected')) return { state: 'rejected', final: true };
    if (dataIds.length < inputs.length) return { state: 'missing' };
    const run = runs.find((one) => one.inputKey === inputKey(dataIds));
    if (run?.state === 'rejected') return { state: 'rejected', final: false };
    if (run?.state === 'running') return { state: 'running' };
    return { state: run && fresh(run.finishedAtMs ?? 0) ? 'met' : 'due' };
  };
  return { requirement, standing: standing(), dataIds };
}

const sameTerms = (a: Terms, b: Terms): boolean =>
  a.version === b.version && a.termsUrl === b.termsUrl && a.privacyPolicyUrl === b.privacyPolicyUrl;

/** The customer's valid data of a kind, latest first; only the latest unless the kind is in SEVERAL. */
function current(
  { submissions }: Pick<Facts, 'submissions'>,
  asked: { readonly type: DataType; readonly network: WalletType | null },
  nowMs: number,
): readonly Submission[] {
  const ofKind = submissions
    .filter(({ type, network }) => type === asked.type && (asked.network === null || network === asked.network))
    .sort((a, b) => b.rank - a.rank);
  const latest = SEVERAL.has(asked.type) ? ofKind : ofKind.slice(0, 1);
  return latest.filter(({ expiresAtMs }) => expiresAtMs === null || nowMs < expiresAtMs);
}

/**
 * Judges each requirement at `nowMs`, and the overall status (CONTRACT, section 12): pending until all data is there,
 * processing while an attestation runs, then rejected or success.
 * @param final attestations that stay rejected even if new data arrives
 */
export function assess(
  requirements: readonly Requirement[],
  facts: Facts,
  nowMs: number,
  final: ReadonlySet<AttestationType>,
): Assessment {
  const judged = expanded(requirements).map((requirement) => judge(requirement, facts, nowMs, final));
  const again = new Set(
    judged.flatMap(({ requirement, standing }) =>
      standing.state === 'rejected' && !standing.final && requirement.type in RUN_INPUTS
        ? [`${RUN_INPUTS[requirement.type as RunType][0]} ${requirement.network}`]
        : [],
    ),
  );
  return {
    status: statusOf(judged),
    judged: judged.map((one) =>
      one.requirement.kind === 'data' && again.has(`${one.requirement.type} ${one.requirement.network}`)
        ? { ...one, standing: { state: 'rejected', final: false }, dataIds: [] }
        : one,
    ),
  };
}

function statusOf(judged: readonly Judged[]): ComplianceStatus {
  const some = (...states: Standing['state'][]) => judged.some(({ standing }) => states.includes(standing.state));
  if (some('missing')) return 'COMPLIANCE_STATUS_PENDING';
  if (some('running', 'due')) return 'COMPLIANCE_STATUS_PROCESSING';
  return some('rejected') ? 'COMPLIANCE_STATUS_REJECTED' : 'COMPLIANCE_STATUS_SUCCESS';
}
