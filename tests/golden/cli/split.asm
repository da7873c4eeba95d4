# Both cores of a split chip: a product in FP16 and INT8, and a sum beside it.
MTE2  gm->l1   bytes=8192 dst=l1:0
set   MTE2 MTE1 0
wait  MTE2 MTE1 0
MTE1  l1->l0a  bytes=2048 src=l1:0 dst=l0a:0
MTE1  l1->l0b  bytes=1024 src=l1:2048 dst=l0b:0
set   MTE1 M 0
wait  MTE1 M 0
M     mmad     m=32 k=32 n=16 type=f16 a=l0a:0 b=l0b:0 dst=l0c:0 init=1
M     mmad     m=32 k=32 n=16 type=i8 a=l0a:0 b=l0b:0 dst=l0c:2048 init=1
set   M FIXP 0
wait  M FIXP 0
FIXP  l0c->gm  bytes=2048 cast=f32:f16 src=l0c:0
VMTE2 gm->ub   bytes=16384 dst=ub:0
set   VMTE2 V 0
wait  VMTE2 V 0
V     vadd     elements=4096 type=f16 src=ub:0 src2=ub:8192 dst=ub:16384
set   V MTE3 0
wait  V MTE3 0
MTE3  ub->gm   bytes=8192 src=ub:16384
