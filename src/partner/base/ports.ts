import type { RawBuilder } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { DAY_MS } from '../../kernel/clock.ts';
import type { Fetch, HttpRequest, HttpResponse } from '../../kernel/http.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import type { AttestationType } from '../../wire/partner/kinds.ts';
import type { CustomerData } from '../customer-data/index.ts';
import type { PartnerEnvironment, Store, Tx } from './tables.ts';

export interface Operator {
  readonly keyId: string;
  readonly name: string;
}

/** An operator's act; ids alone, nothing personal. */
interface OperatorAct {
  readonly operator: Operator;
  readonly action: string;
  readonly subject: string;
  readonly requestId: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** The operators and their audit trail, of another room. */
interface OperatorDesk {
  /** @throws Problem `operator_key_required`, `operator_key_invalid` */
  authenticate(authorization: string | null): Promise<Operator>;
  /** Adds to the audit trail, in the transaction of the act itself. */
  audit(tx: Tx, act: OperatorAct): Promise<void>;
}

/** A kind of work that goes on after its request. */
export type DuePorts = Pick<PartnerPorts, 'store' | 'environment' | 'clock'>;

export interface Job {
  /** The time of the next step (epoch ms), as a query of one value, in every round of the worker. */
  due(ports: DuePorts): RawBuilder<number | null>;
  /** Takes all due steps, and counts them. Safe in several processes at once. */
  runDue(ports: PartnerPorts): Promise<number>;
}

/** The parts that only a demo has; another room loads them when they are needed. */
export interface PartnerDemo {
  /** Makes the demo's partners, customers, orders and key files, where they are missing. */
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
  /** How long a customer's token works by default, and at most. */
  readonly tokenLifeMs: number;
  readonly longestTokenLifeMs: number;
  /** Another compliance policy: a JSON file. */
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

export interface PartnerPorts {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** A service has one environment: keys of the other one are invalid. */
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

export interface PartnerGiven extends Omit<PartnerPorts, 'options'> {
  readonly options?: Partial<PartnerOptions> | undefined;
}

export interface DeskCall {
  readonly ports: PartnerPorts;
  readonly operator: Operator;
  /** Adds to the audit trail, in the transaction of the act itself. The detail has ids, and nothing personal. */
  note(tx: Tx, action: string, subject: string, detail?: OperatorAct['detail']): Promise<void>;
}

export type RunType = Exclude<AttestationType, 'TERMS'>;
export type Verdict = 'passed' | 'rejected';

/** Attests these data, perhaps by another service. It is called again after a crash. */
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
  readonly totalMs: number;
  /** Of answer, as sent and as unpacked. */
  readonly answerBytes: number;
}

/** Overrides how partners' platforms are reached: for the composition root and tests. */
export interface OutboundGiven {
  readonly random?: () => number;
  /** The sandbox platform in this process; null where there is none. */
  readonly embedded?: Fetch | null;
  readonly resolve?: Resolver | undefined;
  readonly limits?: OutboundLimits | undefined;
  /** Certificates to trust beyond the system's (tests). */
  readonly ca?: string | undefined;
}
