import { canonicalJson } from '../kernel/json.ts';
import { isProblem, type Problem, type ProblemCode, problem } from '../kernel/problems.ts';
import { removeOld } from '../store/remove.ts';
import type { PartnerPorts } from './ports.ts';
import type { Tx } from './tables.ts';

type AnswerPorts = Pick<PartnerPorts, 'store' | 'secrets' | 'clock' | 'options'>;

/** The Idempotency-Key of a call: whose, for which procedure, and what it came with. */
interface IdempotencyHandle {
  readonly handle: string;
  readonly requestDigest: string;
}

interface Refusal {
  readonly code: ProblemCode;
  readonly message: string;
  readonly fix: string;
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
}

/** A first answer, given again. */
type Remembered = { readonly answer: object } | { readonly refusal: Refusal };

const MOST_KEY = 255;

/**
 * Reads the header. A key counts for its caller and procedure alone; If-Match is part of the request.
 * @throws Problem `invalid_request`
 */
export function idempotencyOf(
  { secrets }: Pick<AnswerPorts, 'secrets'>,
  header: string | null,
  caller: string,
  operation: string,
  request: unknown,
): IdempotencyHandle | null {
  if (header === null) return null;
  if (!/^[\x20-\x7e]+$/.test(header) || header.length > MOST_KEY) {
    throw problem('invalid_request', {
      detail: {
        issues: [{ path: 'Idempotency-Key', message: `must be 1 to ${MOST_KEY} ASCII characters.` }],
      },
    });
  }
  return {
    handle: secrets.hmac('idempotency key', canonicalJson([caller, operation, header])),
    // Keyed: a bare hash of somebody's data is found out by trying.
    requestDigest: secrets.hmac('idempotent request', canonicalJson(request)),
  };
}

/** First answers by Idempotency-Key, for 24 hours (CONTRACT, section 11). */
export function createAnswers(ports: AnswerPorts) {
  const { store, secrets, clock, options } = ports;
  const place = (handle: string) => `partner_answers.answer_sealed.${handle}`;

  /** @throws Problem `idempotency_key_reused`, or the first answer's own */
  async function recall(tx: Tx | AnswerPorts['store'], key: IdempotencyHandle): Promise<object | null> {
    const row = await tx
      .selectFrom('partner_answers')
      .selectAll()
      .where('handle', '=', key.handle)
      .where('expires_at_ms', '>', clock.now())
      .executeTakeFirst();
    if (!row) return null;
    if (row.request_digest !== key.requestDigest) throw problem('idempotency_key_reused');
    const remembered = JSON.parse(secrets.decrypt(place(key.handle), row.answer_sealed)) as Remembered;
    if ('answer' in remembered) return remembered.answer;
    const { code, message, fix, detail } = remembered.refusal;
    throw problem(code, { message, fix, ...(detail ? { detail } : {}) });
  }

  async function remember(
    tx: Tx,
    key: IdempotencyHandle,
    status: number,
    remembered: Remembered,
  ): Promise<void> {
    const nowMs = clock.now();
    await removeOld(tx, { table: 'partner_answers', key: 'handle', at: 'expires_at_ms' }, nowMs);
    await tx
      .insertInto('partner_answers')
      .values({
        handle: key.handle,
        request_digest: key.requestDigest,
        status,
        answer_sealed: secrets.encrypt(place(key.handle), JSON.stringify(remembered)),
        expires_at_ms: nowMs + options.answersKeptMs,
      })
      .execute();
  }

  /** Keeps a refusal, which changed nothing. Who was faster with the same key has the first answer. */
  const refused = (key: IdempotencyHandle, error: Problem): Promise<object | null> =>
    store.transaction().execute(async (tx) => {
      const first = await recall(tx, key);
      const { code, message, fix, detail } = error;
      if (!first) await remember(tx, key, error.status, { refusal: { code, message, fix, detail } });
      return first;
    });

  return {
    /** The first answer, where there is one. @throws Problem as `write` does */
    recall: (key: IdempotencyHandle) => recall(store, key),

    /**
     * Runs a change as one immediate transaction and remembers its answer in it, so that a crash leaves both or
     * neither. What is refused for good (404, 409, 400 by state) is remembered too; an outage is not.
     */
    async write<T extends object>(key: IdempotencyHandle | null, work: (tx: Tx) => Promise<T>): Promise<T> {
      if (key === null) return store.transaction().execute(work);
      try {
        return await store.transaction().execute(async (tx) => {
          const first = await recall(tx, key);
          if (first) return first as T;
          const answer = await work(tx);
          await remember(tx, key, 200, { answer });
          return answer;
        });
      } catch (error) {
        if (!isProblem(error) || error.code === 'idempotency_key_reused' || error.status >= 429) throw error;
        const first = await refused(key, error);
        if (first) return first as T;
        throw error;
      }
    },
  };
}
