// Optional fields. Under `exactOptionalPropertyTypes`, and over the wire, an absent field and an undefined one differ.

/** Returns the fields that are not undefined: `{ id, ...defined({ detail, hint }) }`. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  const kept: Defined<Fields> = {}
  for (const key in fields) {
    const value = fields[key]
    if (isDefined(value)) kept[key] = value
  }
  return kept
}

/** Returns the fields that are not null: `{ id, ...withoutNulls({ thread: row.thread }) }`. */
export function withoutNulls<Fields extends object>(fields: Fields): WithoutNulls<Fields> {
  const kept: WithoutNulls<Fields> = {}
  for (const key in fields) {
    const value = fields[key]
    if (isNotNull(value)) kept[key] = value
  }
  return kept
}

export type Defined<Fields extends object> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> }
export type WithoutNulls<Fields extends object> = { [Key in keyof Fields]?: Exclude<Fields[Key], null> }

function isDefined<Value>(value: Value): value is Exclude<Value, undefined> {
  return value !== undefined
}

function isNotNull<Value>(value: Value): value is Exclude<Value, null> {
  return value !== null
}
