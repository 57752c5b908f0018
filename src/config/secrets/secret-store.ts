// The encrypted store of secrets: set, list, remove and rotate while running. Plain values never reach the store.
import { type Store, SwitchboardError } from '../../contract/index.ts'
import { createSerial } from '../../contract/serial.ts'
import type { KeyRing } from './key-ring.ts'
import { createSecretBox, keyIdOf } from './secret-box.ts'

export type SecretRows = Pick<Store, 'secrets' | 'replaceSecrets'>

export interface SecretStore {
  names(): readonly string[]
  /** The plain value. Null: there is no secret of that name. Throws when it cannot be decrypted. */
  read(name: string): string | null
  set(name: string, value: string, by: string): Promise<void>
  /** False when there was none. */
  remove(name: string, by: string): Promise<boolean>
  /** Like `set`, for many at once: it waits for a rotation, not for its neighbours. */
  keep(name: string, value: string, by: string): Promise<void>
  forget(names: readonly string[], by: string): Promise<void>
  /** Re-encrypts all under a new key in one commit; the old key opens nothing afterwards. Returns how many. */
  rotate(by: string): Promise<number>
  /** Names under a prefix that no secret can have: what else lies encrypted here. */
  reserved(prefix: string): readonly string[]
  /** Null forgets it. */
  keepReserved(name: string, value: string | null, by: string): Promise<void>
  /** Reads the rows again (another node may have changed them). */
  refresh(): Promise<void>
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/
const MAX_SECRET_BYTES = 65_536

/** Loads the rows and settles a rotation that a crash cut short. */
export async function openSecretStore(ring: KeyRing, store: SecretRows): Promise<SecretStore> {
  const box = createSecretBox(ring)
  let rows: Record<string, string> = { ...(await store.secrets()) }
  const found = ring.settle(Object.values(rows).map((sealed) => keyIdOf(sealed) ?? ''))

  // One change at a time: a set between a rotation's read and its write would be lost.
  const inTurn = createSerial()
  async function replace(change: Readonly<Record<string, string | null>>, by: string): Promise<void> {
    await store.replaceSecrets(change, by)
    rows = { ...(await store.secrets()) }
  }

  // Changes outside of the turn: a rotation waits for them, and they for a rotation.
  const loose = new Set<Promise<void>>()
  let rotating: Promise<unknown> | null = null
  async function change(make: () => Readonly<Record<string, string | null>>, by: string): Promise<void> {
    while (rotating !== null) await rotating.catch(() => undefined)
    const made = make()
    const write = store.replaceSecrets(made, by)
    loose.add(write)
    try {
      await write
    } finally {
      loose.delete(write)
    }
    for (const [name, sealed] of Object.entries(made)) {
      if (sealed === null) delete rows[name]
      else rows[name] = sealed
    }
  }

  const secretStore: SecretStore = {
    names: () => Object.keys(rows).filter(isSecretName).sort(),
    reserved: (prefix) =>
      Object.keys(rows)
        .filter((name) => name.startsWith(prefix) && !isSecretName(name))
        .sort(),
    keepReserved: (name, value, by) =>
      inTurn(() => replace({ [name]: value === null ? null : box.encrypt(name, value) }, by)),
    read: (name) => {
      const sealed = Object.hasOwn(rows, name) ? rows[name] : undefined
      return sealed === undefined ? null : box.decrypt(name, sealed)
    },
    set: (name, value, by) =>
      inTurn(async () => {
        checkName(name)
        if (value === '') throw new SwitchboardError('input_invalid', `secret ${name} is empty`)
        if (Buffer.byteLength(value) > MAX_SECRET_BYTES)
          throw new SwitchboardError('too_large', `secret ${name} is larger than 64 KiB`)
        await replace({ [name]: box.encrypt(name, value) }, by)
      }),
    remove: (name, by) =>
      inTurn(async () => {
        rows = { ...(await store.secrets()) }
        if (!Object.hasOwn(rows, name)) return false
        await replace({ [name]: null }, by)
        return true
      }),
    keep: (name, value, by) => change(() => ({ [name]: box.encrypt(name, value) }), by),
    forget: (names, by) =>
      names.length === 0
        ? Promise.resolve()
        : change(() => Object.fromEntries(names.map((name) => [name, null])), by),
    rotate: (by) => {
      const work = inTurn(() => rotateAll(by))
      rotating = work
      const done = () => {
        if (rotating === work) rotating = null
      }
      work.then(done, done)
      return work
    },
    refresh: () =>
      inTurn(async () => {
        rows = { ...(await store.secrets()) }
      }),
  }

  async function rotateAll(by: string): Promise<number> {
    await Promise.allSettled(loose)
    rows = { ...(await store.secrets()) }
    // Opened before the new key exists: a secret that cannot be opened stops the rotation, not the daemon.
    const plain = Object.entries(rows).map(([name, sealed]) => [name, box.decrypt(name, sealed)] as const)
    const key = ring.beginRotation()
    await replace(Object.fromEntries(plain.map(([name, value]) => [name, box.encrypt(name, value, key)])), by)
    ring.finishRotation()
    return plain.length
  }
  if (found === 'mixed' && ring.source === 'file') await secretStore.rotate('switchboard')
  return secretStore
}

/** What else is kept here has names with a colon, or was given to an integration by others (`given.`). */
export function isSecretName(name: string): boolean {
  return NAME.test(name) && !name.startsWith('given.')
}

function checkName(name: string): void {
  if (isSecretName(name)) return
  throw new SwitchboardError(
    'input_invalid',
    'a secret’s name starts with a letter or digit and holds letters, digits, "_", "-" and "."',
  )
}
