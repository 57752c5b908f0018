// Writes a body of `multipart/form-data`: fields and files, as APIs accept uploads.
import { createHash } from 'node:crypto'

export interface FormPart {
  readonly name: string
  readonly value: string | Uint8Array
  /** Makes the part a file. */
  readonly filename?: string
  readonly type?: string
}

/** Returns the body and its content type. Characters in names and types that would end a header are replaced. */
export function multipartForm(parts: readonly FormPart[]): {
  readonly body: Uint8Array
  readonly type: string
} {
  // The boundary is a digest of the parts, so no part contains it.
  const digest = createHash('sha256')
  for (const { value } of parts) digest.update(value)
  const boundary = `switchboard-${digest.digest('hex').slice(0, 32)}`
  const chunks = parts.flatMap(({ name, value, filename, type }) => {
    const file = filename === undefined ? '' : `; filename="${filename.replace(/["\r\n\\]/g, '_')}"`
    const typed = type === undefined ? '' : `content-type: ${type.replace(/[\r\n]/g, '')}\r\n`
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n${typed}\r\n`
    return [Buffer.from(head), Buffer.from(value), Buffer.from('\r\n')]
  })
  const body = Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)])
  return { body, type: `multipart/form-data; boundary=${boundary}` }
}
