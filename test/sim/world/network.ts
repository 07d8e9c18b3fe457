import type { Serve } from '../../../src/http/router.ts';
import { type Fetch, HttpResponse } from '../../../src/kernel/http.ts';
import type { Process } from './computer.ts';
import type { World } from './world.ts';

/** A service that can be reached: the process that runs it, and its door. */
export interface Reached {
  readonly process: Process;
  readonly serve: Serve;
}

const FAULTS = {
  request_lost: 0.012,
  answer_lost: 0.02,
  late: 0.01,
  repeated: 0.015,
  gateway_before: 0.006,
  gateway_after: 0.015,
  forbidden_after: 0.004,
};

const html = (status: number) =>
  new HttpResponse(status, '<html><h1>Sorry</h1></html>', { 'content-type': 'text/html' });
/** What stands between a tool and a service says in its place. */
const GATEWAYS = [
  html(502),
  html(504),
  new HttpResponse(503, '{"message":"Service Unavailable"}', { 'content-type': 'application/json' }),
  new HttpResponse(502, '{"message":"Bad Gateway"}', { 'content-type': 'application/json' }),
] as const;
const FORBIDDEN = new HttpResponse(403, '{"message":"Forbidden"}', { 'content-type': 'application/json' });

const lost = () => new TypeError('fetch failed', { cause: new Error('ECONNRESET') });

/**
 * The network from a process to a service. A request or its answer is lost, comes late, comes twice; a gateway answers
 * in the service's place, before it was asked or after.
 * @param find whoever serves at this moment
 */
export function network(
  world: World,
  from: Process,
  find: (place: string) => Reached | null,
  clientAddress: string,
): Fetch {
  const { chance } = world;
  const ask = async (place: string, request: Parameters<Fetch>[0]): Promise<HttpResponse> => {
    const reached = find(place);
    if (!reached) throw lost();
    const { signal: _, ...sent } = request;
    return reached.process.orGone(reached.serve(sent, { clientAddress }));
  };
  return (request) =>
    from.boundary(`${request.method} ${new URL(request.url).pathname.replace(/\/[a-z]{3}_\w+/, '/…')}`, async () => {
      const place = chance.numbered(`${from.name} network`);
      const fault = chance.happens('network', place, FAULTS);
      const pauseMs = (way: string) => world.sleep(chance.pauseMs(`${place} ${way}`, 30));
      const gateway = () => chance.pick(`${place} gateway`, GATEWAYS);
      await pauseMs('there');
      if (fault === 'request_lost') throw lost();
      if (fault === 'gateway_before') return gateway();
      if (fault === 'late') await world.sleep(5_000 + chance.part(`${place} late`) * 50_000);
      if (fault === 'repeated') {
        world.after(
          chance.part(`${place} again`) * 20_000,
          () => void ask(`${place} again`, request).catch(() => undefined),
        );
      }
      const answer = await ask(place, request);
      await pauseMs('back');
      if (fault === 'answer_lost') throw lost();
      if (fault === 'gateway_after') return gateway();
      if (fault === 'forbidden_after') return FORBIDDEN;
      return answer;
    });
}
