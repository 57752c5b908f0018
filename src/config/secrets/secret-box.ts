// Encrypts one secret: AES-256-GCM, bound to its name, so that ciphertexts cannot be swapped between names.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { SwitchboardError } from '../../contract/index.ts'
import type { KeyRing, MasterKey } from './key-ring.ts'

const FORMAT = 'sb1'
const NONCE_BYTES = 12
const TAG_BYTES = 16

export interface SecretBox {
  /** With the ring's current key, or the one given (rotation). */
  encrypt(name: string, plain: string, key?: MasterKey): string
  /** Throws `config_invalid`, naming the secret and never its content, when no key of the ring opens it. */
  decrypt(name: string, sealed: string): string
}

export function createSecretBox(ring: KeyRing): SecretBox {
  return {
    encrypt(name, plain, key = ring.current()) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key.secretsKey, nonce)
      cipher.setAAD(Buffer.from(name, 'utf8'))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return [FORMAT, key.id, nonce.toString('base64url'), body.toString('base64url')].join('.')
    },
    decrypt(name, sealed) {
      const [format, id, nonceText, bodyText] = sealed.split('.')
      if (format !== FORMAT || id === undefined || nonceText === undefined || bodyText === undefined) {
        throw unopened(name, 'its record is malformed')
      }
      const key = ring.byId(id)
      if (key === null) throw unopened(name, 'it was encrypted with a key that is not here')
      const body = Buffer.from(bodyText, 'base64url')
      try {
        const opener = createDecipheriv('aes-256-gcm', key.secretsKey, Buffer.from(nonceText, 'base64url'), {
          authTagLength: TAG_BYTES,
        })
        opener.setAAD(Buffer.from(name, 'utf8'))
        opener.setAuthTag(body.subarray(-TAG_BYTES))
        return Buffer.concat([opener.update(body.subarray(0, -TAG_BYTES)), opener.final()]).toString('utf8')
      } catch {
        throw unopened(name, 'its record was changed')
      }
    },
  }
}

/** Which key a ciphertext was made with; null when it is malformed. */
export function keyIdOf(sealed: string): string | null {
  const [format, id] = sealed.split('.')
  return format === FORMAT && id ? id : null
}

function unopened(name: string, why: string): SwitchboardError {
  return new SwitchboardError('config_invalid', `secret:${name} cannot be opened: ${why}`, {
    hint: `set it again with \`switchboard secrets set ${name}\`, or bring back the key it was stored with`,
  })
}
