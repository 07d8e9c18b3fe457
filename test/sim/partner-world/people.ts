import { createPartnerDesk, type PartnerDesk } from '../../../src/client/operator.ts';
import { createPartnerClient, type PartnerClient } from '../../../src/client/partner.ts';
import { isProblem, type Problem, type ProblemCode } from '../../../src/kernel/problems.ts';
import { createComputer } from '../world/computer.ts';
import { network, type Reached } from '../world/network.ts';
import type { World } from '../world/world.ts';
import type { Window } from './history.ts';
import type { Stage } from './stage.ts';

/** Finds the service that answers a request. */
export type Find = (place: string) => Reached | null;

const BASE_URL = 'http://partner.sim';

/** The service has said its last word about this. */
const FINAL: readonly ProblemCode[] = [
  'order_version_mismatch',
  'invalid_status_transition',
  'transaction_id_fixed',
  'order_finished',
  'invalid_request',
  'idempotency_key_reused',
  'order_not_found',
  'partner_refused',
  'partner_answer_invalid',
  'partner_not_found',
  'compliance_required',
  'too_many_attempts',
  'attestation_not_found',
];
export const isFinal = (given: unknown): given is Problem => isProblem(given, ...FINAL);

/** What came of asking for something until it was answered. */
export type Came<T> = Window &
  (
    | { readonly kind: 'ok'; readonly value: T }
    | { readonly kind: 'refused'; readonly problem: Problem }
    | { readonly kind: 'unknown' }
  );

interface Tools {
  readonly client: PartnerClient;
  readonly desk: PartnerDesk;
}

interface Persistence {
  readonly tries?: number;
  readonly longestPauseMs?: number;
}

export type Person = ReturnType<typeof createPerson>;

/** Somebody with a computer, whose programs ask the service, and ask again when they fail or die. */
export function createPerson(
  world: World,
  stage: Stage,
  name: string,
  find: Find,
  given: { readonly apiKey: string; readonly token?: string | undefined },
) {
  const { chance } = world;
  const computer = createComputer(world, name);
  const address = `10.0.0.${1 + (name.charCodeAt(0) % 200)}`;

  /** One run of a program; null when it died. */
  async function command<T>(label: string, run: (tools: Tools) => Promise<T>): Promise<{ value: T } | Problem | null> {
    const process = computer.boot(label);
    const died = new Promise<null>((resolve) => process.atEnd(() => resolve(null)));
    const ran = (async () => {
      const fetch = network(world, process, find, address);
      const client = createPartnerClient({
        baseUrl: BASE_URL,
        fetch,
        serviceName: 'farelock',
        apiKey: async () => given.apiKey,
        customerToken: async () => given.token ?? '',
      });
      const desk = createPartnerDesk({ baseUrl: BASE_URL, fetch, key: stage.template.operatorKey });
      return { value: await run({ client, desk }) };
    })().catch((error: unknown) => {
      if (isProblem(error)) return error;
      throw error;
    });
    const how = await Promise.race([ran, died]);
    process.end();
    if (isProblem(how)) {
      world.saw(`told: ${how.code}`);
      world.tell(name, `${label}: ${how.code}`);
    }
    return how;
  }

  return {
    name,
    computer,

    /** Until it is answered for good, or somebody tires of it. */
    async persist<T>(
      label: string,
      run: (tools: Tools) => Promise<T>,
      { tries = 7, longestPauseMs = 40_000 }: Persistence = {},
    ): Promise<Came<T>> {
      const firstMs = world.now();
      const window = () => ({ who: name, firstMs, endMs: world.now() });
      for (let attempt = 1; attempt <= tries; attempt++) {
        const came = await command(label, run);
        if (came !== null && !isProblem(came)) return { ...window(), kind: 'ok', value: came.value };
        if (isFinal(came)) return { ...window(), kind: 'refused', problem: came };
        const place = chance.numbered(`${name} ${label} again`);
        await world.sleep(300 + chance.pauseMs(place, longestPauseMs));
      }
      world.tell(name, `gives up: ${label}`);
      return { ...window(), kind: 'unknown' };
    },
  };
}
