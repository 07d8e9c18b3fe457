import { PassThrough } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { runInMemory } from '../cli/memory.ts';
import type { Runner } from '../e2e/farelock.ts';

/** A client's transport to `farelock mcp` in this process: what is not about the process itself needs none. */
export function mcpInMemory({ env }: Runner, options: readonly string[]): Transport {
  const [input, output] = [new PassThrough(), new PassThrough({ encoding: 'utf8' })];
  let served: Promise<unknown> | undefined;
  let left = '';
  const transport: Transport = {
    async start() {
      output.on('data', (text: string) => {
        const lines = (left + text).split('\n');
        left = lines.pop() ?? '';
        for (const line of lines) transport.onmessage?.(JSON.parse(line));
      });
      served = runInMemory(['mcp', ...options], { environment: env, pipes: { input, output } });
    },
    send: async (message) => void input.write(`${JSON.stringify(message)}\n`),
    async close() {
      input.end();
      await served;
      transport.onclose?.();
    },
  };
  return transport;
}
