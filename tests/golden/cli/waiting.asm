# Two cores that load without a pause, from a bus that would give more to more transfers.
M mmad m=16 k=16 n=16 type=f16
loop 20
  MTE2 gm->l1 bytes=65536
end
