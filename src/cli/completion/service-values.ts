import type { GlancedRails } from '../../partner/look.ts';
import type { Glanced } from '../../store/glance.ts';
import { profileOf } from '../session/index.ts';
import { givenTo } from '../settings/index.ts';
import type { Place, Position, Source } from './candidate.ts';

/**
 * Values from this home's embedded services, such as ramp orders, refund requests and keys, read from their database. A
 * remote service is not asked: a shell completes with every press of a key.
 */

const SANDBOX_PARTNER = 'par_sandbox_bank';

/** The services of this home; null if the command would use other services. */
async function glance(at: Position, { environment, folder }: Place, home: string) {
  if (givenTo('database_url', environment)) return null;
  const profile = at.values.get('--profile');
  const globals = { input: false, color: false, ...(profile !== undefined && { profile }) };
  const used = await profileOf(environment, globals, home, folder);
  if (!used.isEmbedded || used.partnerUrl !== null) return null;
  const [flights, partner] = await Promise.all([import('../../flights/look.ts'), import('../../partner/look.ts')]);
  return { profile: used, ...flights, ...partner };
}

type Look = NonNullable<Awaited<ReturnType<typeof glance>>>;

const glanced =
  (look: (services: Look, home: string, at: Position, place: Place) => readonly Glanced[]): Source =>
  async (at, home, place) => {
    const services = await glance(at, place, home);
    return services === null ? [] : look(services, home, at, place).map(({ id, words }) => ({ value: id, words }));
  };

/** Orders of the partner whose key the command would use, or of all for a key without a known owner. */
const orders = glanced((services, home, at, { environment }) => {
  const isOwnKey = givenTo('api_key', environment) !== undefined || services.profile.apiKeyFile !== null;
  return services.glanceAtOrders(home, at.values.get('--partner') ?? (isOwnKey ? null : SANDBOX_PARTNER));
});

const rails = (of: keyof GlancedRails): Source =>
  glanced((services, home) => services.glanceAtRails(home)[of].map((id) => ({ id, words: '' })));

const partners = glanced((services, home) => services.glanceAtPartners(home));
const customers = glanced((services, home) => services.glanceAtCustomers(home));
const requests = glanced((services, home) => services.glanceAtRefundRequests(home));
const stuck = glanced((services, home) => services.glanceAtStuck(home));
const attestations = glanced((services, home) => services.glanceAtAttestations(home));
const affiliates = glanced((services, home) => services.glanceAtAffiliates(home));
const keys = glanced((services, home, { path }) =>
  path.startsWith('keys partner') ? services.glanceAtPartnerKeys(home) : services.glanceAtOperatorKeys(home),
);

/** Sources by the name of an argument, or of an option's value, in the help. */
const SOURCES: Readonly<Record<string, Source>> = {
  'order-id': orders,
  'partner-id': partners,
  'customer-id': customers,
  'attestation-id': attestations,
  'key-id': keys,
};

/** Sources by option, where the name of its value has other meanings elsewhere. */
const OPTIONS: Readonly<Record<string, Source>> = {
  '--partner': partners,
  '--customer': customers,
  '--country': rails('countries'),
  '--from': rails('from'),
  '--to': rails('to'),
  '--method': rails('methods'),
  '--referrer': affiliates,
};

/** The source in this home's services for a place of the command line, if any. */
export function serviceSource(place: string, at: Position): Source | null {
  if (at.option) return OPTIONS[at.option.long ?? ''] ?? null;
  if (place === 'id') {
    if (at.path.startsWith('refund')) return requests;
    return at.path.startsWith('stuck') ? stuck : null;
  }
  if (place === 'code') return at.path.startsWith('affiliate') ? affiliates : null;
  return SOURCES[place] ?? null;
}
