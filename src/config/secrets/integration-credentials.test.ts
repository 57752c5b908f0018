// Credentials given by others: encrypted on the secrets, apart from the operator's secrets, and gone when removed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createIntegrationCredentials } from './integration-credentials.ts'
import { openKeyRing } from './key-ring.ts'
import { resolveSecret } from './secret-reference.ts'
import { openSecretStore } from './secret-store.ts'

const CALLBACK = 'https://service.example.com/cb/tok_planted4711'
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sb-given-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function fakeRows() {
  const rows: Record<string, string> = {}
  return {
    rows,
    secrets: async () => ({ ...rows }),
    replaceSecrets: async (change: Readonly<Record<string, string | null>>) => {
      await new Promise((resolve) => setImmediate(resolve))
      for (const [name, sealed] of Object.entries(change)) {
        if (sealed === null) delete rows[name]
        else rows[name] = sealed
      }
    },
  }
}

describe('credentials that others gave', () => {
  it('[S12.given-encrypted] are stored encrypted, found by reference and after a restart, and pruned when done', async () => {
    const store = fakeRows()
    const keys = openKeyRing({ dataDir: folder, env: {} })
    const secrets = await openSecretStore(keys, store)
    await secrets.set('mine', 'operator', 'me')
    const given = createIntegrationCredentials(secrets, 'miriad')
    await given.put('a1', CALLBACK)
    expect(JSON.stringify(store.rows)).not.toContain('planted4711')
    expect(secrets.names()).toEqual(['mine'])
    const read = (reference: string) =>
      resolveSecret(reference, { folder, env: {}, stored: (name) => secrets.read(name) })
    expect(read(given.reference('a1'))).toBe(CALLBACK)
    const later = createIntegrationCredentials(await openSecretStore(keys, store), 'miriad')
    expect([await later.names(), await later.get('a1')]).toEqual([['a1'], CALLBACK])
    expect(await createIntegrationCredentials(secrets, 'other').get('a1')).toBeNull()
    await given.remove(['a1', 'never'])
    expect(Object.keys(store.rows)).toEqual(['mine'])
    expect(await given.get('a1')).toBeNull()
  })

  it('survive a rotation that happens among them', async () => {
    const store = fakeRows()
    const secrets = await openSecretStore(openKeyRing({ dataDir: folder, env: {} }), store)
    const given = createIntegrationCredentials(secrets, 'miriad')
    const names = Array.from({ length: 20 }, (_, at) => `n${at}`)
    await Promise.all([
      ...names.slice(0, 10).map((name) => given.put(name, CALLBACK)),
      secrets.rotate('me'),
      ...names.slice(10).map((name) => given.put(name, CALLBACK)),
    ])
    const fresh = createIntegrationCredentials(
      await openSecretStore(openKeyRing({ dataDir: folder, env: {} }), store),
      'miriad',
    )
    for (const name of names) expect(await fresh.get(name)).toBe(CALLBACK)
  })
})
