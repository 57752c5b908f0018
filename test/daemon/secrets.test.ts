// Secrets on a running daemon: set, listed, removed and rotated by command, used at once by those that wait for them.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Daemon } from '../faults/daemon.ts'
import { post } from '../faults/hook-client.ts'
import type { Status } from '../faults/river-checks.ts'
import { askJson, askLines, createScene, switchboard } from '../faults/scene.ts'
import { adminTokenOf, callApi, githubSignature, writeYaml } from './admin.ts'

const scene = createScene()

interface Report extends Status {
  readonly integrations: readonly { id: string; link: string; detail?: string }[]
}

const signed = (daemon: Daemon, secret: string, body = 'hello') =>
  post(`${daemon.url}/hooks/ci`, body, { 'x-hub-signature-256': githubSignature(secret, body) })

describe('secrets', () => {
  it('[I18.secrets-at-once] [I3.secrets-running] [S14.cli-secrets] are set, listed, removed and rotated while the daemon runs, and used at once', async () => {
    const data = scene.folder()
    const config = writeYaml(
      data,
      `integrations:
  - { id: ci, platform: webhook, secret: "secret:CI_KEY" }
agents:
  - { id: demo, connector: { type: demo }, inbound_bindings: [{ plugin: webhook, instance: ci }] }
`,
    )
    let daemon = await scene.start({ data, config })
    const link = async () => (await askJson<Report>(data, 'status')).integrations[0]
    // It waits for its secret, and says which one.
    expect(await link()).toMatchObject({ link: 'down', detail: expect.stringContaining('secret:CI_KEY') })
    // 503 and not 404: the sender keeps what it has and comes again.
    expect((await signed(daemon, 'first-value')).status).toBe(503)

    const set = await switchboard(data, 'secrets', 'set', 'CI_KEY', '--value', 'first-value')
    expect(set).toMatchObject({ code: 0, stdout: 'kept; refer to it as secret:CI_KEY\n' })
    expect(await link()).toMatchObject({ link: 'up' })
    expect((await signed(daemon, 'first-value')).status).toBe(200)
    expect((await signed(daemon, 'second-value')).status).toBe(401)

    await switchboard(data, 'secrets', 'set', 'CI_KEY', '--value', 'second-value')
    expect((await signed(daemon, 'first-value')).status).toBe(401)
    expect((await signed(daemon, 'second-value')).status).toBe(200)
    await switchboard(data, 'secrets', 'set', 'OTHER', '--value', 'other-value')
    expect(await askLines(data, 'secrets', 'list')).toEqual([{ name: 'CI_KEY' }, { name: 'OTHER' }])

    const key = readFileSync(join(data, 'switchboard.key'), 'utf8')
    expect(await askJson(data, 'secrets', 'rotate')).toEqual({ rotated: 2 })
    expect(readFileSync(join(data, 'switchboard.key'), 'utf8')).not.toBe(key)
    expect((await signed(daemon, 'second-value')).status).toBe(200)
    await daemon.kill9()
    daemon = await scene.start({ data, config })
    expect((await signed(daemon, 'second-value')).status).toBe(200)

    expect((await switchboard(data, 'secrets', 'remove', 'CI_KEY')).code).toBe(0)
    expect(await link()).toMatchObject({ link: 'down' })
    expect((await signed(daemon, 'second-value')).status).toBe(503)
    const again = await switchboard(data, 'secrets', 'remove', 'CI_KEY')
    expect(again).toMatchObject({ code: 1, stdout: '' })
    expect(await askLines(data, 'secrets', 'list')).toEqual([{ name: 'OTHER' }])
    // Who changed what is in the ledger; the values are not.
    const ledger = await askLines<{ kind: string; ref: string; to: string }>(data, 'audit', 'export')
    const changes = ledger.filter((entry) => entry.kind === 'secret').map(({ ref, to }) => `${ref} ${to}`)
    expect(changes.slice(0, 3)).toEqual(['CI_KEY set', 'CI_KEY set', 'OTHER set'])
    expect(changes.at(-1)).toBe('CI_KEY removed')
  })

  it('[S16.names-field] names up to 128 characters, the same in the command and in the API', async () => {
    const data = scene.folder()
    const daemon = await scene.start({ data })
    const put = (name: string) =>
      callApi(daemon, adminTokenOf(data), 'PUT', `/api/secrets/${encodeURIComponent(name)}`, { value: 'v' })
    const longest = 'A'.repeat(128)
    expect((await put(longest)).status).toBe(200)
    expect((await switchboard(data, 'secrets', 'set', `B${longest.slice(1)}`, '--value', 'v')).code).toBe(0)
    for (const name of [`${longest}A`, '.hidden', 'white space', 'a/b']) {
      expect([name, (await put(name)).status]).toEqual([name, 400])
      expect((await switchboard(data, 'secrets', 'set', name, '--value', 'v')).code).toBe(2)
    }
  })

  it('[S3.reload-command] a reload notices that the file behind a reference changed', async () => {
    const data = scene.folder()
    writeFileSync(join(data, 'ci.secret'), 'old-value')
    const config = writeYaml(
      data,
      `integrations:
  - { id: ci, platform: webhook, secret: "file:ci.secret" }
agents:
  - { id: demo, connector: { type: demo }, inbound_bindings: [{ plugin: webhook, instance: ci }] }
`,
    )
    const daemon = await scene.start({ data, config })
    expect((await signed(daemon, 'old-value')).status).toBe(200)
    writeFileSync(join(data, 'ci.secret'), 'new-value')
    expect((await switchboard(data, 'reload')).code).toBe(0)
    expect((await signed(daemon, 'old-value')).status).toBe(401)
    expect((await signed(daemon, 'new-value')).status).toBe(200)
  })
})
