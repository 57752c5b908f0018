// The form of a reference to a secret, wherever options contain one.

export const SECRET_REFERENCE =
  /^(env:[A-Za-z_][A-Za-z0-9_]*|file:[^\0]+|secret:[A-Za-z0-9][A-Za-z0-9_.-]{0,127})$/
export const SECRET_HINT = 'write env:NAME, file:path or secret:NAME'
