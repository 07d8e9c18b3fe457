import { createSocket } from 'node:dgram';
import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { chromium, recipeFor, serve, visitTo } from './site.ts';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** Somebody else on the same machine, who writes down whatever reaches him. */
async function stranger() {
  const reached: string[] = [];
  const server = createServer((socket) => {
    reached.push('tcp');
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const udp = createSocket('udp4').on('message', () => reached.push('udp'));
  await new Promise<void>((resolve) => udp.bind(port, '127.0.0.1', resolve));
  closing.push(
    () => server.close(),
    () => udp.close(),
  );
  return { port, host: `127.0.0.1:${port}`, reached };
}

describe.runIf(chromium)('a visit', () => {
  test('reaches its carrier and nobody else, whatever the page tries', async () => {
    const { host, reached } = await stranger();
    const site = await serve({
      '/': `<h1>Home</h1><img src="http://${host}/pixel"><link rel="prefetch" href="http://${host}/next">
        <link rel="preconnect" href="http://${host}"><iframe src="http://${host}/frame"></iframe>
        <a id="away" href="http://${host}/away">away</a><img src="http://localhost:${host.split(':')[1]}/x">
        <script>
          const tries = [];
          const note = (name) => tries.push(name);
          fetch('/redirect').catch(() => note('redirect'));
          fetch('http://${host}/fetch', { mode: 'no-cors' }).catch(() => note('fetch'));
          navigator.sendBeacon('http://${host}/beacon', 'x');
          const ws = new WebSocket('ws://${host}/socket'); ws.onclose = () => note('socket');
          new Worker(URL.createObjectURL(new Blob(["fetch('http://${host}/w',{mode:'no-cors'}).catch(()=>postMessage(1));"
            + "try { new WebSocket('ws://${host}/w') } catch {}"]))).onmessage = () => note('worker');
          if (typeof RTCPeerConnection === 'undefined') note('rtc');
          else {
            const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:${host}' }] });
            peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer));
          }
          navigator.serviceWorker?.register('/sw.js');
          open('http://${host}/popup');
          window.tries = tries;
        </script>`,
      '/redirect': () => ({ status: 302, headers: { location: `http://${host}/redirected` } }),
      '/there': () => ({ status: 302, headers: { location: `http://${host}/there` } }),
      '/sw.js': () => ({ body: '', headers: { 'content-type': 'text/javascript' } }),
    });
    closing.push(site.close);
    const visit = await visitTo(recipeFor(site.base));
    closing.push(visit.close);
    await visit.page.goto(site.base);
    const tries = () => visit.page.evaluate(() => (globalThis as unknown as { tries: string[] }).tries.sort());
    await expect.poll(tries, { timeout: 30_000 }).toEqual(['fetch', 'redirect', 'rtc', 'socket', 'worker']);
    await visit.page.click('#away', { noWaitAfter: true });
    await visit.page.waitForTimeout(300);
    await expect(visit.page.goto(`${site.base}/there`)).rejects.toThrow(/net::|interrupted/);
    await visit.page.waitForTimeout(300);
    expect(reached).toEqual([]);
    expect([...visit.refused]).toContain(host);
    expect(visit.page.context().pages()).toHaveLength(1);
    expect(site.asked).not.toContain('GET /sw.js');
    await visit.close();
  });

  test.runIf(process.platform === 'linux')('has memory, and not without end', async () => {
    const greedy = `const all = [];
      const more = setInterval(() => {
        try { all.push(new Uint8Array(1e8).fill(1)); }
        catch { clearInterval(more); document.title = 'full of ' + all.length; }
      }, 5);`;
    const site = await serve({ '/': `<h1>Much</h1><script>${greedy}</script>` });
    closing.push(site.close);
    const visit = await visitTo(recipeFor(site.base));
    await visit.page.goto(site.base);
    await expect.poll(() => visit.page.title(), { timeout: 20_000 }).toMatch(/^full of \d+$/);
    expect(Number(/\d+/.exec(await visit.page.title())?.[0])).toBeLessThan(20);
    expect(await visit.page.getByRole('heading').textContent()).toBe('Much');
    await visit.close();
  });

  test('leaves nothing behind, and ends when its time is over', async () => {
    const site = await serve({ '/': '<script>for(;;);</script>' });
    closing.push(site.close);
    // Of this process: other files of tests have browsers of their own.
    const left = () => readdirSync('/dev/shm').filter((name) => name.startsWith(`farelock-visit-${process.pid}-`));
    const before = left();
    const visit = await visitTo(recipeFor(site.base));
    // From here on: the browser's own start takes as long as the machine needs.
    visit.extend(1_500);
    await expect(visit.page.goto(site.base)).rejects.toThrow();
    expect(visit.isGone()).toBe(true);
    await visit.close();
    expect(left().filter((name) => !before.includes(name))).toEqual([]);
  });
});
