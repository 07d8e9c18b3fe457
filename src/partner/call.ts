import type * as z from 'zod';
import type { Tx } from './ports.ts';

/** The partner whose key was sent. */
export interface CallingPartner {
  readonly partnerId: string;
  readonly name: string;
  readonly type: 'INTEGRATION' | 'REDIRECT';
  readonly keyId: string;
}

/** One authenticated call of a procedure. */
export interface Call {
  readonly partner: CallingPartner;
  /** Whose token was sent; null where the procedure concerns no one customer. */
  readonly customerId: string | null;
  /** X-Request-Id of the answer. */
  readonly requestId: string;
  readonly headers: { get(name: string): string | null };
  /** From the connection, never from the request; an embedded service has none. */
  readonly clientAddress: string | undefined;
  readonly nowMs: number;
  /**
   * The Idempotency-Key of a procedure that writes, as a keyed hash that is one caller's and one procedure's, and the
   * digest of the request that it came with. Null without the header.
   */
  readonly idempotency: { readonly handle: string; readonly requestDigest: string } | null;
  /**
   * Runs a change as one immediate transaction, and remembers its answer there: with an Idempotency-Key, the first
   * answer is given again and `work` does not run. A problem rolls everything back and is remembered by itself.
   */
  write<T extends object>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

export type ServiceName = 'partner' | 'customer';

interface Described {
  readonly service: ServiceName;
  readonly name: string;
  /** The answer, for the description of the interface. */
  readonly output?: z.ZodType;
  /** `customer`: a customer's token is needed too. `none`: any partner's key is enough. */
  readonly concerns: 'partner' | 'customer' | 'none';
  /** It changes something: Idempotency-Key counts. */
  readonly writes: boolean;
  readonly mostBodyBytes?: number;
  /** Headers of the answer beside the usual ones, such as ETag. */
  headers?(answer: object): Record<string, string>;
}

/** A procedure as it is written: what it takes, whom it concerns, what it does. */
interface Written<I extends z.ZodType> extends Described {
  /** After ProtoJSON's forms were made one: camelCase names, nulls left out. Strict: unknown fields are refused. */
  readonly input: I;
  run(call: Call, input: z.output<I>): Promise<object>;
}

/** What was read, and what it is for. */
interface Asked {
  readonly input: unknown;
  run(call: Call): Promise<object>;
}

/** A procedure where those of many shapes stand in one list: what `run` takes is what its own schema has read. */
export interface Procedure extends Described {
  readonly input: z.ZodType;
  /** @param by reads the message by the schema it is given */
  read(by: <S extends z.ZodType>(schema: S) => Promise<z.output<S>>): Promise<Asked>;
}

export function procedure<I extends z.ZodType>({ run, ...written }: Written<I>): Procedure {
  return {
    ...written,
    async read(by) {
      const input = await by(written.input);
      return { input, run: (call) => run(call, input) };
    },
  };
}
