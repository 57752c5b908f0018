// Commands without a daemon: what they say of the nodes of a cluster, whatever their own machine's clock says.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { NodeReport } from '../contract/index.ts'
import { statusReport } from '../health/status.ts'
import { createNodeClock, createRealRandom } from '../runtime/real-clock.ts'
import { openStore } from '../store/open.ts'
import { sharedPostgres } from '../testing/postgres/server.ts'
import { openStoreContext } from './open-store-context.ts'

it('[I6.clock-skew] nodes are judged by the time of the database, not by that of who asks', async () => {
  const data = mkdtempSync(join(tmpdir(), 'sb-read-'))
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  const url = await (await sharedPostgres()).freshDatabase()
  const configFile = join(data, 'switchboard.yaml')
  writeFileSync(configFile, `store: ${url}\nintegrations: []\nagents: []\n`)
  const ledgerKey = new Uint8Array(32).fill(7)
  writeFileSync(join(data, 'ledger.key'), Buffer.from(ledgerKey).toString('base64'), { mode: 0o600 })
  const beats: (() => Promise<void>)[] = []
  for (const node of ['one', 'two']) {
    const clock = createNodeClock()
    const store = await openStore(url, {
      ...{ clock, random: createRealRandom(), node, ledgerKey },
      onDatabaseTime: clock.adjust,
    })
    onTestFinished(() => store.close())
    const report: NodeReport = {
      ...{ node, version: '', startedAt: clock.now(), digest: '', url: '', skewMs: 0, watched: false },
      ...{ links: [], activity: {}, agents: [] },
    }
    beats.push(() => store.beat(report))
  }
  for (const skewMs of [5 * 60_000, -5 * 60_000]) {
    for (const beat of beats) await beat()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + skewMs })
    try {
      const { context, close } = await openStoreContext({ dataDir: data, configFile })
      const { nodes } = await statusReport({
        store: context.store,
        settings: context.settings,
        clock: context.clock,
        standing: context.standing,
      })
      await close()
      expect(nodes?.map(({ node, state }) => `${node} ${state}`)).toEqual(['one up', 'two up'])
    } finally {
      vi.useRealTimers()
    }
  }
})
