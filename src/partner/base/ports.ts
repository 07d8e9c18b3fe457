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

/** An operator's act: ids only, nothing personal. */
interface OperatorAct {
  readonly operator: Operator;
  readonly action: string;
  readonly subject: string;
  readonly requestId: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** The operators and their audit trail, from another room. */
interface OperatorDesk {
  /** @throws Problem `operator_key_required`, `operator_key_invalid` */
  authenticate(authorization: string | null): Promise<Operator>;
  /** Adds to the audit trail, in the transaction of the act itself. */
  audit(tx: Tx, act: OperatorAct): Promise<void>;
}

export type DuePorts = Pick<PartnerPorts, 'store' | 'environment' | 'clock'>;

/** Work that continues after the request that began it. */
export interface Job {
  /** The time of the next step (epoch ms), as a query of one value. Every round of the worker runs it. */
  due(ports: DuePorts): RawBuilder<number | null>;
  /** Takes all due steps and returns their number. Several processes may run it at once. */
  runDue(ports: PartnerPorts): Promise<number>;
}

/** The parts that only a demo has; another room provides them. */
export interface PartnerDemo {
  /** Creates the demo's partners, customers, orders and key files if they are missing. */
  seed(ports: PartnerPorts): Promise<void>;
  readonly attest: Attest;
  /** Answers as the sandbox platform, inside this process. */
  answer(ports: PartnerPorts, request: HttpRequest): Promise<HttpResponse>;
  /** Updates orders as the sandbox platform does. */
  readonly updates: Job;
}

/** Settings of the operator. Times in milliseconds. */
export interface PartnerOptions {
  /** How long an Idempotency-Key is remembered. */
  readonly answersKeptMs: number;
  /** How long a customer's token works by default. */
  readonly tokenLifeMs: number;
  readonly longestTokenLifeMs: number;
  /** A JSON file that replaces the shipped compliance policy. */
  readonly compliancePolicyFile: string | undefined;
  /** How long an attestation of the sandbox takes. */
  readonly attestationMs: number;
  /** The pause between two updates of one order by the sandbox platform. */
  readonly platformStepMs: number;
  /** Ports besides 443 and 8443 at which partners' platforms may be called. */
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
  /** Null in production. */
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
  /** Adds to the audit trail, in the transaction of the act itself. The detail holds ids, nothing personal. */
  note(tx: Tx, action: string, subject: string, detail?: OperatorAct['detail']): Promise<void>;
}

export type RunType = Exclude<AttestationType, 'TERMS'>;
export type Verdict = 'passed' | 'rejected';

/** Attests a customer's data, perhaps through another service. Called again after a crash. */
export type Attest = (type: RunType, data: readonly CustomerData[]) => Promise<Verdict>;

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Finds every IP address of a host name; rejects if there is none. */
export type Resolver = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** The limits of one outbound call (CONTRACT, section 13). */
export interface OutboundLimits {
  /** For DNS, connecting and the TLS handshake. */
  readonly connectMs: number;
  readonly totalMs: number;
  /** The limit of an answer, both compressed and decompressed. */
  readonly answerBytes: number;
}

/** Overrides how partners' platforms are reached: for the composition root and tests. */
export interface OutboundGiven {
  readonly random?: () => number;
  /** The sandbox platform in this process; null if there is none. */
  readonly embedded?: Fetch | null;
  readonly resolve?: Resolver | undefined;
  readonly limits?: OutboundLimits | undefined;
  /** Certificates to trust beyond the system's (tests). */
  readonly ca?: string | undefined;
}
