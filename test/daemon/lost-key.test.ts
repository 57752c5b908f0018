// A data folder whose ledger.key is gone: the daemon starts under a new one and says so, at
// every start.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { postDemo } from '../faults/hook-client.ts'
import { settled } from '../faults/river-checks.ts'
import { createScene, switchboard } from '../faults/scene.ts'

const scene = createScene()

describe('a lost ledger key', () => {
  it('[S12.lost-key] is told at every start and by doctor; messages flow', async () => {
    const data = scene.folder()
    const warns = (text: string) => text.includes('sealed with another key')
    const first = await scene.start({ data })
    await postDemo(first.url, 'hello', 'k1')
    await settled(data)
    await first.terminate()
    expect(warns(first.stderr())).toBe(false)
    // Nor is a first start taken for one whose database was lost.
    expect(first.stderr()).not.toContain('was used before')
    rmSync(join(data, 'ledger.key'))
    for (const again of [1, 2]) {
      const daemon = await scene.start({ data })
      expect(warns(daemon.stderr())).toBe(true)
      expect((await postDemo(daemon.url, 'still there?', `lost${again}`)).status).toBe(200)
      await settled(data)
      const doctor = await switchboard(data, 'doctor', '--verbose')
      expect(doctor.code).toBe(1)
      expect(warns(doctor.stdout)).toBe(true)
      expect((await switchboard(data, 'audit', 'verify')).code).toBe(1)
      await daemon.terminate()
    }
  })

  it('[I14.no-empty-after-kill] all files of a database gone, and killed before it noticed: up stops, and says how to go on', async () => {
    const data = scene.folder()
    const daemon = await scene.start({ data })
    await postDemo(daemon.url, 'acknowledged')
    for (const name of readdirSync(data)) if (name.startsWith('switchboard.db')) rmSync(join(data, name))
    daemon.signal('SIGKILL')
    await daemon.exited
    const up = await switchboard(data, 'up', '--port', '0')
    expect(up).toMatchObject({ code: 2, stdout: '' })
    expect(up.stderr).toContain('this data folder was used before, but its database')
    expect(up.stderr).toContain('switchboard restore BACKUP')
    expect(readdirSync(data).filter((name) => name.endsWith('.db'))).toEqual([])
    rmSync(join(data, 'last-life.json'))
    await (await scene.start({ data })).terminate()
  })
})
