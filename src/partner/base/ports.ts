import type { Clock } from '../../kernel/clock.ts';
import { DAY_MS } from '../../kernel/clock.ts';
import type { Fetch, HttpRequest, HttpResponse } from '../../kernel/http.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import type { AttestationType } from '../../wire/partner/kinds.ts';
import type { CustomerData } from '../customer-data/index.ts';
import type { PartnerEnvironment, Store, Tx } from './tables.ts';

/** An operator, by the bearer key that was sent. */
export interface Operator {
  readonly keyId: string;
  readonly name: string;
}

/** What an operator did; ids alone, nothing personal. */
interface OperatorAct {
  readonly operator: Operator;
  readonly action: string;
  readonly subject: string;
  readonly requestId: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** The operator's desk, which another room keeps: who sends this header, and the audit trail. */
interface OperatorDesk {
  /** @throws Problem `operator_key_required`, `operator_key_invalid` */
  authenticate(authorization: string | null): Promise<Operator>;
  /** Adds to the audit trail, in the transaction of the act itself. */
  audit(tx: Tx, act: OperatorAct): Promise<void>;
}

/** A kind of work that goes on after its request: when the next step is due, and what takes all that are. */
export interface Job {
  /** One small read: it is asked in every round. */
  dueAtMs(store: Store, environment: PartnerEnvironment, clock: Clock): Promise<number | null>;
  /** Safe in several processes at once. Gives the steps taken. */
  load(ports: PartnerPorts): Promise<() => Promise<number>>;
}

/** What a demo has that a production service has not: another room keeps it, and loads it when it is needed. */
export interface PartnerDemo {
  /** Makes the demo's partners, customers, orders and key files, where they are not there yet. */
  seed(ports: PartnerPorts): Promise<void>;
  readonly attest: Attest;
  /** The sandbox platform inside this process: what it answers, and what it sends by itself. */
  answer(ports: PartnerPorts, request: HttpRequest): Promise<HttpResponse>;
  readonly updates: Job;
}

/** Settings of the operator. Times in milliseconds. */
export interface PartnerOptions {
  /** How long an Idempotency-Key is remembered. */
  readonly answersKeptMs: number;
  /** How long a customer's token works unless told otherwise, and at most. */
  readonly tokenLifeMs: number;
  readonly longestTokenLifeMs: number;
  /** Another policy of what is asked of customers: a JSON file. */
  readonly compliancePolicyFile: string | undefined;
  /** How long an attestation of the sandbox takes. */
  readonly attestationMs: number;
  /** From one update of the sandbox platform to the next, about one order. */
  readonly platformStepMs: number;
  /** Ports that partners' platforms may be called at, beyond 443 and 8443. */
  readonly outboundPorts: readonly number[];
}

export const defaultPartnerOptions: PartnerOptions = {
  answersKeptMs: DAY_MS,
  tokenLifeMs: 15 * 60_000,
  longestTokenLifeMs: DAY_MS,
  compliancePolicyFile: undefined,
  attestationMs: 2_000,
  platformStepMs: 1_500,
  outboundPorts: [],
};

/** The ports of every module of the partner service. */
export interface PartnerPorts {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** One service is one environment: a key of the other one is no key. */
  readonly environment: PartnerEnvironment;
  /** null in production. */
  readonly demo: PartnerDemo | null;
  /** `<svc>` of the procedure paths. */
  readonly serviceName: string;
  /** FARELOCK_HOME: the demo partners' keys go below it. */
  readonly home: string;
  readonly desk: OperatorDesk;
  readonly options: PartnerOptions;
  readonly outbound?: OutboundGiven | undefined;
}

/** The arguments of createPartner. */
export interface PartnerGiven extends Omit<PartnerPorts, 'options'> {
  readonly options?: Partial<PartnerOptions> | undefined;
}

/** One call at the operator's desk. */
export interface DeskCall {
  readonly ports: PartnerPorts;
  readonly operator: Operator;
  /** Adds to the audit trail, in the transaction of the act itself. The detail has ids, and nothing personal. */
  note(tx: Tx, action: string, subject: string, detail?: OperatorAct['detail']): Promise<void>;
}

export type RunType = Exclude<AttestationType, 'TERMS'>;
export type Verdict = 'passed' | 'rejected';

/** Says what came of an attestation of these data. It may ask somebody outside; it is asked again after a crash. */
export type Attest = (type: RunType, data: readonly CustomerData[]) => Promise<Verdict>;

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Finds every address of a name; rejects when it has none. */
export type Resolver = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** The limits of one outbound call (CONTRACT, section 13). */
export interface OutboundLimits {
  /** To resolve, connect and agree on TLS. */
  readonly connectMs: number;
  /** Over all tries. */
  readonly totalMs: number;
  /** Of answer, as sent and as unpacked. */
  readonly answerBytes: number;
}

/** How partners' platforms are reached, where it is not as usual: for the composition root and tests. */
export interface OutboundGiven {
  /** Between 0 and 1. */
  readonly random?: () => number;
  /** The sandbox platform in this process; null where there is none. */
  readonly embedded?: Fetch | null;
  readonly resolve?: Resolver | undefined;
  readonly limits?: OutboundLimits | undefined;
  /** Certificates to trust beyond the system's (tests). */
  readonly ca?: string | undefined;
}
