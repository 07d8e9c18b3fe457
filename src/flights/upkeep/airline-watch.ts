import { type FlightsPorts, pageWhile } from '../base/index.ts';

/** Pages an operator while the airline refuses every call of this service. */
export async function watchAirline(
  ports: Pick<FlightsPorts, 'store' | 'clock' | 'log' | 'outbox' | 'provider'>,
): Promise<void> {
  const { provider } = ports;
  if (!provider?.trouble) return;
  const trouble = await provider.trouble();
  await pageWhile(ports, {
    key: `airline_refuses:${provider.name}`,
    event: 'airline_refuses',
    restored: 'airline_answers_again',
    text: trouble && `${provider.name} refuses every call: ${trouble}. Nothing can be searched or ordered.`,
    fields: { provider: provider.name },
  });
}
