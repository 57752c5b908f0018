// Proves secrets: references, keys, encryption, rotation and crashes in the middle of one.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SwitchboardError } from '../contract/index.ts'
import { BOOK } from './fixtures/load-text.ts'
import { generateKey, openKeyRing, readLedgerKey } from './secrets/key-ring.ts'
import { createSecretBox } from './secrets/secret-box.ts'
import {
  isSecretReference,
  resolveSecret,
  resolveStore,
  type SecretSources,
} from './secrets/secret-reference.ts'
import { openSecretStore, type SecretRows } from './secrets/secret-store.ts'
import { openStoredIntegrations } from './stored-integrations.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sb-secrets-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const ringIn = (env: Record<string, string> = {}) => openKeyRing({ dataDir: dir, env })
const errorOf = (run: () => unknown): SwitchboardError => {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof SwitchboardError) return thrown
    throw thrown
  }
  throw new Error('nothing was thrown')
}

/** Rows in memory, as the store keeps them; `crash` makes a write fail before or after it took hold. */
function rowsStore(): SecretRows & { rows: Record<string, string>; crash: 'before' | 'after' | null } {
  return {
    rows: {},
    crash: null,
    async secrets() {
      return { ...this.rows }
    },
    async replaceSecrets(change) {
      if (this.crash === 'before') throw new Error('crash')
      for (const [name, sealed] of Object.entries(change)) {
        if (sealed === null) delete this.rows[name]
        else this.rows[name] = sealed
      }
      if (this.crash === 'after') throw new Error('crash')
    },
  }
}

describe('references', () => {
  const sources = (over: Partial<SecretSources> = {}): SecretSources => ({
    folder: dir,
    env: { TOKEN: 'from-env', EMPTY: '' },
    stored: (name) => (name === 'bot' ? 'from-store' : null),
    ...over,
  })

  it('[S3.ref-env] env:NAME is read from the environment', () => {
    expect(resolveSecret('env:TOKEN', sources())).toBe('from-env')
  })

  it('[S3.ref-file] file:path is read relative to the configuration, without the closing newline', () => {
    writeFileSync(join(dir, 'token'), 'from-file\n')
    expect(resolveSecret('file:token', sources())).toBe('from-file')
    expect(resolveSecret(`file:${join(dir, 'token')}`, sources({ folder: '/' }))).toBe('from-file')
  })

  it('[S3.ref-secret] secret:NAME is read from the encrypted store', () => {
    expect(resolveSecret('secret:bot', sources())).toBe('from-store')
  })

  it.each([
    'env:ABSENT',
    'env:EMPTY',
    'file:absent',
    'file:.',
    'secret:absent',
    'secret:constructor',
    'env:__proto__',
    'env:constructor',
  ])('[S3.ref-missing] %s leads nowhere: the error names it', (reference) => {
    const error = errorOf(() => resolveSecret(reference, sources()))
    expect(error.code).toBe('config_invalid')
    expect(error.message).toContain(reference)
  })

  it('[S3.ref-missing] what every object inherits is no name of a secret', () => {
    expect(errorOf(() => resolveSecret('secret:__proto__', sources())).code).toBe('config_invalid')
  })

  it('[S3.ref-missing] a value written inline is refused and not repeated', () => {
    const error = errorOf(() => resolveSecret('hunter2', sources()))
    expect(`${error.message} ${error.hint}`).not.toContain('hunter2')
    expect(error.hint).toContain('env:NAME')
  })

  it('a file that is empty or far too large is told', () => {
    writeFileSync(join(dir, 'empty'), '\n')
    writeFileSync(join(dir, 'large'), 'x'.repeat(70_000))
    expect(errorOf(() => resolveSecret('file:empty', sources())).message).toContain('leads to nothing')
    expect(errorOf(() => resolveSecret('file:large', sources())).message).toContain('larger than 64 KiB')
  })

  it('a store may be named by a reference, and must then be one', () => {
    const env = { DB: 'postgres://u:hunter2@db/sb', ODD: 'mysql://u:hunter2@x' }
    expect(resolveStore('env:DB', { folder: dir, env })).toBe(env.DB)
    expect(resolveStore('sqlite:/x', { folder: dir, env })).toBe('sqlite:/x')
    const error = errorOf(() => resolveStore('env:ODD', { folder: dir, env }))
    expect(error.message).toBe('env:ODD does not hold the address of a store')
    expect(errorOf(() => resolveStore('env:NONE', { folder: dir, env })).message).toContain('env:NONE')
  })

  it('a reference is told from plain text', () => {
    expect(['env:A', 'file:x', 'secret:a.b-c'].every(isSecretReference)).toBe(true)
    expect(['env:', 'env:1A', 'secret:', 'secret:a b', 'https://x', ''].some(isSecretReference)).toBe(false)
  })
})

describe('keys', () => {
  it('[S12.key-source] a key file of mode 0600 is made on first use and used again', () => {
    const first = ringIn()
    expect(statSync(join(dir, 'switchboard.key')).mode & 0o777).toBe(0o600)
    expect(statSync(join(dir, 'ledger.key')).mode & 0o777).toBe(0o600)
    expect(ringIn().current().id).toBe(first.current().id)
    expect(ringIn().ledgerKey).toEqual(first.ledgerKey)
    expect(first.source).toBe('file')
  })

  it('[S12.key-source] SWITCHBOARD_KEY takes base64 and hex, and no key file is written', () => {
    const key = generateKey()
    const ring = ringIn({ SWITCHBOARD_KEY: key })
    expect(ringIn({ SWITCHBOARD_KEY: Buffer.from(key, 'base64').toString('hex') }).current().id).toBe(
      ring.current().id,
    )
    expect(existsSync(join(dir, 'switchboard.key'))).toBe(false)
    expect(ring.source).toBe('env')
  })

  it.each(['short', 'x'.repeat(44), 'ff'.repeat(31)])('%s is not a key, and is not repeated', (key) => {
    const error = errorOf(() => ringIn({ SWITCHBOARD_KEY: key }))
    expect(error.message).toBe('SWITCHBOARD_KEY does not hold a key')
    expect(`${error.message}${error.hint}`).not.toContain(key)
  })

  it('[S12.key-file-mode] a key file that others can read is refused with a hint', () => {
    ringIn()
    chmodSync(join(dir, 'switchboard.key'), 0o644)
    const error = errorOf(() => ringIn())
    expect(error.message).toContain('can be read by others (mode 644)')
    expect(error.hint).toContain('chmod 600')
  })

  it('[S12.key-source] whoever only reads makes no key: a missing one is told', () => {
    const error = errorOf(() => readLedgerKey({ dataDir: dir, env: {} }))
    expect(error.message).toContain('ledger.key is missing')
    expect(existsSync(join(dir, 'ledger.key'))).toBe(false)
    expect(existsSync(join(dir, 'switchboard.key'))).toBe(false)
    const env = { SWITCHBOARD_KEY: generateKey() }
    const shared = readLedgerKey({ dataDir: dir, env })
    expect(openKeyRing({ dataDir: dir, env }).ledgerKey).toEqual(shared)
    expect(readLedgerKey({ dataDir: dir, env: {} })).toEqual(shared)
  })

  it('the ledger key is the same before and after a rotation, and shared by nodes that share the key', async () => {
    const ring = ringIn()
    const shelf = await openSecretStore(ring, rowsStore())
    await shelf.rotate('test')
    expect(ringIn().ledgerKey).toEqual(ring.ledgerKey)
    const env = { SWITCHBOARD_KEY: generateKey() }
    const a = openKeyRing({ dataDir: mkdtempSync(join(dir, 'a-')), env })
    const b = openKeyRing({ dataDir: mkdtempSync(join(dir, 'b-')), env })
    expect(a.ledgerKey).toEqual(b.ledgerKey)
  })
})

describe('the box', () => {
  it('[S12.secrets-encrypted] opens what it closed, each time with another ciphertext', () => {
    const box = createSecretBox(ringIn())
    const one = box.encrypt('a', 'hunter2 ✓')
    expect(one).not.toBe(box.encrypt('a', 'hunter2 ✓'))
    expect(one).not.toContain('hunter2')
    expect(box.decrypt('a', one)).toBe('hunter2 ✓')
  })

  it('[S12.secrets-encrypted] a changed, moved or foreign ciphertext does not open, and says nothing about its content', () => {
    const box = createSecretBox(ringIn())
    const sealed = box.encrypt('a', 'hunter2')
    const parts = sealed.split('.')
    const flipped = [
      ...parts.slice(0, 3),
      `${parts[3]?.startsWith('A') ? 'B' : 'A'}${parts[3]?.slice(1)}`,
    ].join('.')
    const foreign = createSecretBox(ringIn({ SWITCHBOARD_KEY: generateKey() })).encrypt('a', 'hunter2')
    for (const [name, text] of [
      ['b', sealed],
      ['a', flipped],
      ['a', foreign],
      ['a', 'nonsense'],
      ['a', ''],
      ['a', `${parts.slice(0, 3).join('.')}.AA`],
    ] as const) {
      const error = errorOf(() => box.decrypt(name, text))
      expect(error.message).toContain(`secret:${name} cannot be opened`)
      expect(error.message).not.toContain('hunter2')
    }
  })
})

describe('the shelf', () => {
  it('sets, lists, reads and removes', async () => {
    const store = rowsStore()
    const shelf = await openSecretStore(ringIn(), store)
    await shelf.set('bot', 'one', 'op')
    await shelf.set('bot', 'the second value', 'op')
    await shelf.set('a.b-c', 'x', 'op')
    expect(shelf.names()).toEqual(['a.b-c', 'bot'])
    expect(shelf.read('bot')).toBe('the second value')
    expect(shelf.read('absent')).toBeNull()
    expect(JSON.stringify(store.rows)).not.toContain('second')
    expect(await shelf.remove('bot', 'op')).toBe(true)
    expect(await shelf.remove('bot', 'op')).toBe(false)
    await expect(shelf.set('a b', 'x', 'op')).rejects.toThrow('name')
    await expect(shelf.set('a', '', 'op')).rejects.toThrow('empty')
    await expect(shelf.set('a', 'x'.repeat(70_000), 'op')).rejects.toThrow('64 KiB')
  })

  it('[S12.rotate] re-encrypts all under a new key, and the old one opens nothing', async () => {
    const store = rowsStore()
    const shelf = await openSecretStore(ringIn(), store)
    await shelf.set('a', '1', 'op')
    await shelf.set('b', '2', 'op')
    const oldKey = readFileSync(join(dir, 'switchboard.key'), 'utf8')
    const before = { ...store.rows }
    expect(await shelf.rotate('op')).toBe(2)
    expect(shelf.read('a')).toBe('1')
    expect(existsSync(join(dir, 'switchboard.key.next'))).toBe(false)
    const old = createSecretBox(
      openKeyRing({ dataDir: mkdtempSync(join(dir, 'x-')), env: { SWITCHBOARD_KEY: oldKey } }),
    )
    expect(old.decrypt('a', before.a ?? '')).toBe('1')
    expect(() => old.decrypt('a', store.rows.a ?? '')).toThrow('key that is not here')
    const again = await openSecretStore(ringIn(), store)
    expect(again.read('b')).toBe('2')
    expect(() => createSecretBox(ringIn()).decrypt('a', before.a ?? '')).toThrow('key that is not here')
  })

  it.each(['before', 'after'] as const)(
    '[S12.rotate] a crash %s the commit of a rotation loses nothing',
    async (crash) => {
      const store = rowsStore()
      const shelf = await openSecretStore(ringIn(), store)
      await shelf.set('a', '1', 'op')
      store.crash = crash
      await expect(shelf.rotate('op')).rejects.toThrow('crash')
      expect(existsSync(join(dir, 'switchboard.key.next'))).toBe(true)
      store.crash = null
      const reopened = await openSecretStore(ringIn(), store)
      expect(reopened.read('a')).toBe('1')
      expect(existsSync(join(dir, 'switchboard.key.next'))).toBe(false)
      expect((await openSecretStore(ringIn(), store)).read('a')).toBe('1')
      expect(await reopened.rotate('op')).toBe(1)
      expect((await openSecretStore(ringIn(), store)).read('a')).toBe('1')
    },
  )

  it('a rotation that failed in a running daemon goes on with the next try', async () => {
    const store = rowsStore()
    const shelf = await openSecretStore(ringIn(), store)
    await shelf.set('a', '1', 'op')
    store.crash = 'after'
    await expect(shelf.rotate('op')).rejects.toThrow('crash')
    store.crash = null
    await shelf.set('b', '2', 'op')
    expect(await shelf.rotate('op')).toBe(2)
    const reopened = await openSecretStore(ringIn(), store)
    expect([reopened.read('a'), reopened.read('b')]).toEqual(['1', '2'])
  })

  it('[S12.rotate] secrets set after a rotation whose answer was lost survive the restart', async () => {
    const store = rowsStore()
    const shelf = await openSecretStore(ringIn(), store)
    await shelf.set('a', '1', 'op')
    store.crash = 'after'
    await expect(shelf.rotate('op')).rejects.toThrow('crash')
    store.crash = null
    await shelf.set('b', '2', 'op')
    for (let restart = 0; restart < 2; restart++) {
      const reopened = await openSecretStore(ringIn(), store)
      expect([reopened.read('a'), reopened.read('b')]).toEqual(['1', '2'])
      expect(existsSync(join(dir, 'switchboard.key.next'))).toBe(false)
    }
  })

  it('changes at once do not lose one another', async () => {
    const shelf = await openSecretStore(ringIn(), rowsStore())
    await Promise.all([
      shelf.set('a', '1', 'op'),
      shelf.rotate('op'),
      shelf.set('b', '2', 'op'),
      shelf.rotate('op'),
    ])
    expect([shelf.read('a'), shelf.read('b')]).toEqual(['1', '2'])
  })

  it('a key from the environment is rotated by giving the old one beside the new one', async () => {
    const store = rowsStore()
    const [old, fresh] = [generateKey(), generateKey()]
    const before = await openSecretStore(ringIn({ SWITCHBOARD_KEY: old }), store)
    await before.set('a', '1', 'op')
    await expect(before.rotate('op')).rejects.toThrow('cannot be replaced from here')
    const during = await openSecretStore(ringIn({ SWITCHBOARD_KEY: fresh, SWITCHBOARD_KEY_OLD: old }), store)
    expect(during.read('a')).toBe('1')
    expect(await during.rotate('op')).toBe(1)
    expect((await openSecretStore(ringIn({ SWITCHBOARD_KEY: fresh }), store)).read('a')).toBe('1')
  })

  it('a secret that cannot be opened stops a rotation before anything changes', async () => {
    const store = rowsStore()
    const shelf = await openSecretStore(ringIn(), store)
    await shelf.set('a', '1', 'op')
    store.rows.broken = 'sb1.000000000000.AAAA.AAAA'
    const before = { ...store.rows }
    await expect(shelf.rotate('op')).rejects.toThrow('secret:broken cannot be opened')
    expect(store.rows).toEqual(before)
    expect(existsSync(join(dir, 'switchboard.key.next'))).toBe(false)
  })
})

describe('an integration whose definition no key here opens', () => {
  it('is down with the reason and the commands that mend it, and can be removed and added again', async () => {
    const store = rowsStore()
    const definition = { id: 'door', platform: 'web' }
    const before = await openStoredIntegrations(
      await openSecretStore(ringIn({ SWITCHBOARD_KEY: generateKey() }), store),
      async () => BOOK,
    )
    await before.add(definition, null, 'op')

    const secrets = await openSecretStore(ringIn(), store)
    const after = await openStoredIntegrations(secrets, async () => BOOK)
    const [door] = after.all()
    expect(door?.settings).toMatchObject({ id: 'door', access: { dm: 'disabled' } })
    expect(door?.settings.problem).toBe(
      'its definition cannot be opened: it was encrypted with a key that is not here; ' +
        'remove it with: switchboard integrations remove door, then add it again',
    )
    await expect(after.change('door', { enabled: false }, 'op')).rejects.toMatchObject({ code: 'conflict' })
    expect(await after.remove('door', 'op')).toBe(true)
    const { settings } = await after.add(definition, null, 'op')
    expect(settings.problem).toBeUndefined()
  })
})
