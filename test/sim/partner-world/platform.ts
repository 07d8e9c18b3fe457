import { type Fetch, type HttpRequest, HttpResponse } from '../../../src/kernel/http.ts';
import { verifyWebhook } from '../../../src/partner/platforms/webhook-signature.ts';
import type { Process } from '../world/computer.ts';
import type { World } from '../world/world.ts';
import type { Held } from './platform-books.ts';
import type { Slug, Stage } from './stage.ts';

/** On the way, before anything is decided, and on the way back. */
const FAULTS = {
  request_lost: 0.02,
  answer_lost: 0.04,
  silent_but_done: 0.02,
  done_later: 0.025,
  slow: 0.03,
  unavailable: 0.03,
  unavailable_for_long: 0.01,
  busy: 0.01,
  gateway_before: 0.015,
  gateway_after: 0.02,
  error_before: 0.01,
  error_after: 0.012,
  refuses: 0.04,
  refuses_without_words: 0.01,
  redirects: 0.008,
  unauthorized: 0.006,
  not_json: 0.008,
  huge: 0.005,
  wrong_status: 0.006,
  no_instructions: 0.006,
  shared_id: 0.01,
  twice: 0.03,
};

const JSON_TYPE = { 'content-type': 'application/json' };
const ok = (body: string) => new HttpResponse(200, body, JSON_TYPE);
const empty = (status: number, headers: Readonly<Record<string, string>> = {}) => new HttpResponse(status, '', headers);
const REFUSAL = JSON.stringify({ error: { reason: 'limit', customerFacingReason: 'Too much for today.' } });
const lost = () => new Error('ECONNRESET');
/** Longer than anybody waits. */
const SILENCE_MS = 40_000;

type Request = Parameters<Fetch>[0];

/** The partners' platforms as a service reaches them: with every way in which an answer can fail to come. */
export function platformOf(world: World, stage: Stage, process: Process): Fetch {
  const { chance } = world;
  return (request) => {
    const place = chance.numbered(`${process.name} platform`);
    return process.boundary(
      'platform',
      async () => {
        const { slug, operation } = targetOf(request);
        checkRequest(world, stage, request, slug, operation);
        const outage = stage.platform.outage(slug);
        if (outage !== null) {
          world.saw(`platform: ${outage}`);
          if (outage === 'busy') return empty(503, { 'retry-after': '20' });
          throw lost();
        }
        const fault = chance.happens('platform', place, FAULTS);
        if (fault !== null) world.tell(slug, `${operation} of ${process.name}: ${fault.replaceAll('_', ' ')}`);
        return answered(world, stage, { request, slug, operation, place }, fault);
      },
      { mostMs: 60 },
    );
  };
}

interface Asked {
  readonly request: Request;
  readonly slug: Slug;
  readonly operation: string;
  readonly place: string;
}

function targetOf({ url }: Pick<HttpRequest, 'url'>): { slug: Slug; operation: string } {
  const [, slug = '', operation = ''] = new URL(url).pathname.split('/');
  return { slug: slug as Slug, operation };
}

async function answered(world: World, stage: Stage, asked: Asked, fault: string | null): Promise<HttpResponse> {
  const { chance } = world;
  const { place } = asked;
  switch (fault) {
    case 'request_lost':
      throw lost();
    case 'unavailable':
      return empty(503);
    case 'unavailable_for_long':
      return empty(503, { 'retry-after': String(30 + Math.floor(chance.part(place) * 900)) });
    case 'busy':
      return empty(429, { 'retry-after': '7' });
    case 'gateway_before':
      return empty(chance.part(place) < 0.5 ? 502 : 504);
    case 'error_before':
      return empty(500);
    case 'redirects':
      return empty(307, { location: 'https://elsewhere.invalid/' });
    case 'unauthorized':
      return empty(401);
    case 'done_later':
      world.after(2_000 + chance.part(place) * 90_000, () => void decided(world, stage, asked, null));
      throw lost();
    case 'slow':
      await world.sleep(chance.part(place) * 9_500);
      break;
    case 'twice':
      world.after(chance.part(place) * 20_000, () => void decided(world, stage, asked, null));
      break;
  }
  const answer = decided(world, stage, asked, fault);
  switch (fault) {
    case 'answer_lost':
      throw lost();
    case 'silent_but_done':
      await world.sleep(SILENCE_MS);
      throw lost();
    case 'gateway_after':
      return empty(504);
    case 'error_after':
      return empty(500);
  }
  return answer;
}

/** What a platform does with a request that reached it. It refuses for good what it refused once, and takes once. */
function decided(world: World, stage: Stage, asked: Asked, fault: string | null): HttpResponse {
  const { request, slug, operation } = asked;
  const orderId = request.headers['idempotency-key'] ?? '';
  const { platform, template } = stage;
  // A signature of another hour than the platform's is somebody else's repetition.
  if (!verifyWebhook([template.webhookSecrets[slug]], request.headers, request.body, world.now())) {
    world.saw('platform: a signature of another hour');
    return empty(401);
  }
  if (operation === 'redirect-order') return redirected(fault, orderId);
  const isNew = !platform.held.has(orderId);
  if (isNew && (fault === 'refuses' || fault === 'refuses_without_words')) platform.refused.add(orderId);
  if (platform.refused.has(orderId))
    return new HttpResponse(422, fault === 'refuses_without_words' ? '' : REFUSAL, JSON_TYPE);
  if (!isNew) world.saw('platform: the same order again');
  const others = platform.ordersOf(slug);
  const sharing = fault === 'shared_id' ? (others.at(-1) ?? null) : null;
  const held = platform.take(slug, JSON.parse(request.body), sharing);
  if (isNew) world.tell(slug, `takes ${orderId.slice(-6)} as ${held.status}`);
  return misanswered(held, fault);
}

function misanswered(held: Held, fault: string | null): HttpResponse {
  const wrong = (body: string) => {
    held.isMisanswered = true;
    return ok(body);
  };
  const right = JSON.parse(held.answer) as object;
  if (fault === 'not_json') return wrong('<html>Thank you</html>');
  if (fault === 'huge') return wrong(JSON.stringify({ ...right, padding: 'x'.repeat(300 * 1024) }));
  if (fault === 'wrong_status') return wrong(JSON.stringify({ ...right, status: 'REFUNDED' }));
  if (fault === 'no_instructions') {
    return wrong(JSON.stringify({ ...right, status: 'AWAITING_FUNDS', depositInstructions: {} }));
  }
  return ok(held.answer);
}

function redirected(fault: string | null, orderId: string): HttpResponse {
  if (fault === 'refuses') return new HttpResponse(422, REFUSAL, JSON_TYPE);
  if (fault === 'refuses_without_words') return empty(400);
  if (fault === 'not_json') return ok('<html>');
  const scheme = fault === 'wrong_status' ? 'http' : 'https';
  return ok(JSON.stringify({ redirectUrl: `${scheme}://redirecta.example/start/${orderId}`, toAmount: '21.5' }));
}

/** What the contract promises a platform about every request. */
function checkRequest(world: World, stage: Stage, request: Request, slug: Slug, operation: string): void {
  const { headers, body } = request;
  const orderId = headers['idempotency-key'] ?? '';
  const wrong = (why: string) => world.violate('every request is signed, and names its order', `${orderId}: ${why}`);
  if (headers['webhook-id'] !== orderId) wrong('webhook-id is another one');
  if (operation === 'create-order' && (JSON.parse(body) as { orderId: string }).orderId !== orderId)
    wrong('the body names another one');
  const sentMs = Number(headers['webhook-timestamp']) * 1000;
  if (!verifyWebhook([stage.template.webhookSecrets[slug]], headers, body, sentMs)) wrong('the signature');
  if (stage.platform.firstBody(orderId, body) !== body) wrong('it is not what was asked before');
  const [row] = stage.rows<{ creation: string }>('select creation from partner_orders where order_id = ?', orderId);
  if (!row) world.violate('an order is written before its platform hears of it', `${orderId} is not there`);
}
