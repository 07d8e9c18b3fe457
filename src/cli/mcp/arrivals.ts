import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';

/** Which answers have left for the client: until then what was paid for them is kept. */
interface Arrivals {
  /** Notes that the answer to this request carries what a call has paid for. */
  expect(requestId: RequestId, paymentIds: readonly string[]): void;
  /** The same transport; once it has sent an answer, the answer has arrived. */
  over(transport: Transport): Transport;
}

export function openArrivals(arrived: (paymentIds: readonly string[]) => Promise<void>): Arrivals {
  const expected = new Map<RequestId, readonly string[]>();
  return {
    expect: (requestId, paymentIds) => void expected.set(requestId, paymentIds),
    over(transport) {
      const send = transport.send.bind(transport);
      transport.send = async (message, options) => {
        await send(message, options);
        const id = 'id' in message && !('method' in message) ? message.id : undefined;
        const paymentIds = id === undefined ? undefined : expected.get(id);
        if (id === undefined || paymentIds === undefined) return;
        expected.delete(id);
        await arrived(paymentIds);
      };
      return transport;
    },
  };
}
