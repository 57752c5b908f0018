// The keys of a data folder. The master key (SWITCHBOARD_KEY, or switchboard.key) encrypts secrets and can be rotated;
// the ledger key (ledger.key) signs the audit chain and never changes, or old chains could not be verified.
//
// Rotation of a key file, told as a story: the new key is written beside the old one (`switchboard.key.next`), the
// secrets are re-encrypted in one commit, then the new file is moved over the old one. Whoever opens the ring between
// any two of these steps finds both keys and can read every secret; `settle` then finishes or undoes what it finds.
import { createHash, hkdfSync, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { SwitchboardError } from '../../contract/index.ts'
import { createPrivate, movePrivate, readPrivate, removePrivate } from './private-file.ts'

export interface MasterKey {
  /** Short name of the key, written into every ciphertext. Says nothing about the key. */
  readonly id: string
  readonly secretsKey: Uint8Array
}

export interface KeyRing {
  readonly source: 'env' | 'file'
  /** Encrypts. */
  current(): MasterKey
  /** Decrypts: the current key, and others that may still be in use. */
  byId(id: string): MasterKey | null
  /** Signs the ledger; the same before and after a rotation. */
  readonly ledgerKey: Uint8Array
  /** The key that will be current after `finishRotation`. Safe to call again after a crash. */
  beginRotation(): MasterKey
  /** From here on only the new key opens anything. */
  finishRotation(): void
  /** At start: finishes or undoes a rotation that was cut short, by what the ciphertexts say. `mixed`: rotate again. */
  settle(keyIdsInUse: readonly string[]): 'settled' | 'mixed'
}

export interface KeyRingConfig {
  readonly dataDir: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Opens the ring; makes the key files on first use. Throws `config_invalid` on a malformed or open-to-all key. */
export function openKeyRing({ dataDir, env }: KeyRingConfig): KeyRing {
  const keyFile = join(dataDir, 'switchboard.key')
  const nextFile = `${keyFile}.next`
  const fromEnv = envKey(env, 'SWITCHBOARD_KEY')
  const oldFromEnv = envKey(env, 'SWITCHBOARD_KEY_OLD')

  let master = fromEnv ?? fileKey(keyFile) ?? newFileKey(keyFile)
  let next = fileKey(nextFile)
  // A key file beside SWITCHBOARD_KEY is from before: it still opens what it closed, until a rotation.
  let others = [oldFromEnv, fromEnv === null ? null : fileKey(keyFile)].filter((key) => key !== null)
  const ledgerKey = openLedgerKey(dataDir, env, fromEnv)

  const ring: KeyRing = {
    source: fromEnv === null ? 'file' : 'env',
    current: () => derive(master),
    byId(id) {
      for (const key of [master, next, ...others]) {
        if (key !== null && derive(key).id === id) return derive(key)
      }
      return null
    },
    ledgerKey,
    beginRotation() {
      if (fromEnv !== null) {
        if (others.length === 0) {
          throw new SwitchboardError(
            'config_invalid',
            'the key comes from SWITCHBOARD_KEY and cannot be replaced from here',
            {
              hint: 'start with SWITCHBOARD_KEY set to the new key and SWITCHBOARD_KEY_OLD to the one in use, then rotate',
            },
          )
        }
        return derive(master)
      }
      if (next === null) {
        createPrivate(nextFile, `${randomBytes(32).toString('base64')}\n`)
        next = fileKey(nextFile)
      }
      if (next === null) throw new SwitchboardError('internal', 'the new key vanished while it was written')
      return derive(next)
    },
    finishRotation() {
      others = []
      if (fromEnv !== null || next === null) return
      movePrivate(nextFile, keyFile)
      master = next
      next = null
    },
    settle(keyIdsInUse) {
      if (next === null) return 'settled'
      const underNext = keyIdsInUse.includes(derive(next).id)
      if (!underNext) {
        removePrivate(nextFile)
        next = null
        return 'settled'
      }
      // Some were written after the commit with the old key: both are needed until a rotation runs to its end.
      if (fromEnv !== null || keyIdsInUse.includes(derive(master).id)) return 'mixed'
      ring.finishRotation()
      return 'settled'
    },
  }
  return ring
}

/** A fresh key as SWITCHBOARD_KEY takes it. */
export function generateKey(): string {
  return randomBytes(32).toString('base64')
}

/** For those who only read: makes nothing. Throws `config_invalid` when there is no key, for a new one proves nothing. */
export function readLedgerKey({ dataDir, env }: KeyRingConfig): Uint8Array {
  const key = knownLedgerKey(dataDir, env) ?? sharedLedgerKey(envKey(env, 'SWITCHBOARD_KEY'))
  if (key !== null) return key
  throw new SwitchboardError('config_invalid', `${join(dataDir, 'ledger.key')} is missing`, {
    hint: 'the ledger cannot be verified without it: put it back, or set SWITCHBOARD_LEDGER_KEY',
  })
}

function openLedgerKey(dataDir: string, env: KeyRingConfig['env'], fromEnv: Uint8Array | null): Uint8Array {
  const known = knownLedgerKey(dataDir, env)
  if (known !== null) return known
  const fresh = sharedLedgerKey(fromEnv) ?? randomBytes(32)
  // Kept in a file, so that a rotation does not change it.
  const path = join(dataDir, 'ledger.key')
  createPrivate(path, `${Buffer.from(fresh).toString('base64')}\n`)
  return fileKey(path) ?? fresh
}

function knownLedgerKey(dataDir: string, env: KeyRingConfig['env']): Uint8Array | null {
  return envKey(env, 'SWITCHBOARD_LEDGER_KEY') ?? fileKey(join(dataDir, 'ledger.key'))
}

/** Nodes that share SWITCHBOARD_KEY share the ledger key too. */
function sharedLedgerKey(master: Uint8Array | null): Uint8Array | null {
  return master === null ? null : subkey(master, 'ledger')
}

function derive(master: Uint8Array): MasterKey {
  const id = createHash('sha256').update(subkey(master, 'id')).digest('hex').slice(0, 12)
  return { id, secretsKey: subkey(master, 'secrets') }
}

function subkey(master: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', master, new Uint8Array(0), `switchboard/${purpose}/v1`, 32))
}

function newFileKey(path: string): Uint8Array {
  createPrivate(path, `${generateKey()}\n`)
  const key = fileKey(path)
  if (key === null) throw new SwitchboardError('internal', `${path} vanished while it was written`)
  return key
}

function fileKey(path: string): Uint8Array | null {
  const text = readPrivate(path)
  return text === null ? null : decodeKey(text, path)
}

function envKey(env: KeyRingConfig['env'], name: string): Uint8Array | null {
  const text = env[name]
  return text === undefined || text.trim() === '' ? null : decodeKey(text, name)
}

function decodeKey(text: string, where: string): Uint8Array {
  const trimmed = text.trim()
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return new Uint8Array(Buffer.from(trimmed, 'hex'))
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) {
    const bytes = Buffer.from(trimmed.replaceAll('-', '+').replaceAll('_', '/'), 'base64')
    if (bytes.length === 32) return new Uint8Array(bytes)
  }
  throw new SwitchboardError('config_invalid', `${where} does not hold a key`, {
    hint: 'a key is 32 bytes in base64 or hex; `openssl rand -base64 32` makes one',
  })
}
